import { expect, test } from 'vitest';

import { decode, declaredEncoding, detectEncoding, encodingOf } from './encoding.ts';
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

test.each([
  ['text/html; charset="utf-8" ; x=y', 'utf-8'],
  ['charset=utf-8', 'utf-8'],
  ['text/html charset=utf-8', 'utf-8'],
  ["text/html; charset='utf-8'", 'utf-8'],
  ['text/html; x="a; charset=koi8-r;"; charset="utf-8"', 'utf-8'],
  ['text/html; charset=utf-8, text/plain; charset=koi8-r', 'utf-8'],
  ['text/html; charset="utf-8"x', undefined],
  ['text/html; xcharset=utf-8', undefined],
  ['text/html; charset=', undefined],
  ['text/html', undefined],
])('the charset of the header %j', (header, charset) => {
  expect(declaredEncoding(Buffer.alloc(0), header)).toBe(charset);
});

test.each([
  ['<meta charset=koi8-r>', 'koi8-r'],
  ["< META CharSet = 'KOI8-R' />", 'koi8-r'],
  ['<meta http-equiv="content-type" content="text/html;charset=koi8-r">', 'koi8-r'],
  ['<meta content="text/html" http-equiv=Content-Type charset=koi8-r>', 'koi8-r'],
  ['<?xml version="1.0" encoding="koi8-r"?><a/>', 'koi8-r'],
  [`<title>${'x'.repeat(3000)}</title><meta charset=koi8-r>`, 'koi8-r'],
  ['<meta charset=none><meta charset=koi8-r>', 'koi8-r'],
  ['<!-- <meta charset=koi8-r> --><meta charset=gbk>', 'gbk'],
  ['<meta content="text/html; charset=koi8-r" name=x>', undefined],
  ['<meta http-equiv="Content-Type<meta charset="koi8-r">', undefined],
  ['<meta charset=koi8-r">', undefined],
  ['<body><meta charset=koi8-r>', undefined],
  ['<meta charset=utf-16>', 'utf-8'],
  ['<meta charset=x-user-defined>', 'windows-1252'],
])('what the page %j declares', (start, charset) => {
  expect(declaredEncoding(Buffer.from(start), undefined)).toBe(charset);
});

test('a byte order mark goes before the header, and the header before the page', () => {
  const page = Buffer.from('<meta charset=koi8-r>');
  expect(detectEncoding(page, 'text/html; charset=gbk')).toBe('gb18030');
  expect(
    detectEncoding(Buffer.concat([Buffer.from('efbbbf', 'hex'), page]), 'a/b; charset=x'),
  ).toBe('utf-8');
  expect(decode(Buffer.from('fffe6800e900', 'hex'), 'utf-16le')).toBe('hé');
});

test('labels are those of the standard', () => {
  expect(encodingOf(' Latin1 ')).toBe('windows-1252');
  expect(encodingOf('iso-2022-kr')).toBe('replacement');
  expect(encodingOf('constructor')).toBeUndefined();
  expect(decode(Buffer.from('é'), 'replacement')).toBe('é');
});
