import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { Request } from '../../http/request.ts';
import { HtmlResponse } from '../../http/response-types.ts';
import { getMetaRefresh, MetaRefreshMiddleware } from './meta-refresh.ts';

const page = 'http://h.test/d/p.html';

test.each([
  ['<meta content="0;url=x.html" http-equiv="refresh">', 'http://h.test/d/x.html'],
  ['<meta http-equiv=Refresh content="0; URL=&#10; /n.html">', 'http://h.test/n.html'],
  [`<meta http-equiv="refresh" content="1; url='/q.html'">`, 'http://h.test/q.html'],
  [
    '<base href="http://o.test/k/"><meta http-equiv="refresh" content="0;url=x.html">',
    'http://o.test/k/x.html',
  ],
  ['<meta http-equiv="refresh" content="5;url=new"</head>', 'http://h.test/d/new'],
])('%s', (html, url) => {
  expect(getMetaRefresh(html, page)?.url).toBe(url);
});

test.each([
  '<meta http-equiv="refresh" content="30">',
  '<!-- <meta http-equiv="refresh" content="0;url=x"> -->',
  '<noscript><meta http-equiv="refresh" content="0;url=x"></noscript>',
  `<script>'<meta http-equiv="refresh" content="0;url=x">'</script >`,
  '<meta name="refresh" content="0;url=x">',
])('%s is none', (html) => {
  expect(getMetaRefresh(html, page)).toBeUndefined();
});

test('a page is followed by GET, but not after a long delay nor to a file', () => {
  const { crawler } = fakeCrawler();
  const middleware = MetaRefreshMiddleware.fromCrawler(crawler);
  const outcome = (content: string, method = 'POST') => {
    const request = new Request(page, { method, body: 'x' });
    const body = Buffer.from(`<meta http-equiv="refresh" content="${content}">`);
    return middleware.processResponse(request, new HtmlResponse(page, { body, request }));
  };
  expect(outcome('5;url=/n')).toMatchObject({
    url: 'http://h.test/n',
    method: 'GET',
    body: undefined,
  });
  expect((outcome('5;url=/n') as Request).meta.redirectReasons).toEqual(['meta refresh']);
  expect(outcome('100;url=/n')).toBeInstanceOf(HtmlResponse);
  expect(outcome('5;url=file:///etc/passwd')).toBeInstanceOf(HtmlResponse);
  expect(outcome('5;url=/n', 'HEAD')).toBeInstanceOf(HtmlResponse);
});
