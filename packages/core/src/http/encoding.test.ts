import { expect, test } from 'vitest';

import { createResponse } from './response-types.ts';

const page = (text: string, hex: string): Buffer =>
  Buffer.concat([Buffer.from(text), Buffer.from(hex, 'hex')]);

test.each([
  [
    'text/html',
    page('<meta httpequiv="ContentType" content="text/html; charset=gbk"><title>', 'cdf8d5be'),
    '网站',
  ],
  ['text/html; charset=iso-8859-1', page('', '936869942080'), '\u201chi\u201d \u20ac'],
  ['text/html; charset=gb2312', page('', 'e946'), '镕'],
  ['text/html; charset=iso-8859-1', page('', 'efbbbfc3a9'), 'é'],
  [
    'text/html',
    page('<meta content="text/html; charset=shift_jis" http-equiv=Content-Type>', '836583588367'),
    'テスト',
  ],
  ['text/html; charset="utf8"', page('', 'c3a9'), 'é'],
  ['text/html; charset=none', page('<meta charset=euc-kr>', 'c7d1'), '한'],
  ['text/html', page('', 'c3a9'), 'é'],
  ['text/html', page('', 'e9'), 'é'],
  ['text/html; charset=utf-8', page('', '61ff62'), 'a\ufffdb'],
])('%s', (type, body, text) => {
  const response = createResponse('http://h.test/', { headers: { 'content-type': type }, body });
  expect(response.text.replace(/^<.*>/, '')).toBe(text);
});
