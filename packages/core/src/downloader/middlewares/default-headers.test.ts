import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { DownloadTimeoutError } from '../../errors.ts';
import { Request } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { DefaultHeadersMiddleware } from './default-headers.ts';
import { DownloadTimeoutMiddleware } from './download-timeout.ts';
import { DownloaderStatsMiddleware } from './stats.ts';
import { UserAgentMiddleware } from './user-agent.ts';

test('what a request does not say for itself is filled in', () => {
  const { crawler } = fakeCrawler({ settings: { USER_AGENT: 'me/1', DOWNLOAD_TIMEOUT: 7 } });
  const request = new Request('http://h.test/', { headers: { Accept: 'x/y' } });
  new DefaultHeadersMiddleware({
    Accept: 'text/html',
    'Accept-Language': 'en',
    DNT: null,
  }).processRequest(request);
  UserAgentMiddleware.fromCrawler(crawler).processRequest(request);
  DownloadTimeoutMiddleware.fromCrawler(crawler).processRequest(request);
  expect(request.headers.toJSON()).toEqual({
    accept: 'x/y',
    'accept-language': 'en',
    'user-agent': 'me/1',
  });
  expect(request.meta.downloadTimeout).toBe(7);
});

test('requests, responses and failures are counted', () => {
  const { crawler, stats } = fakeCrawler();
  const middleware = DownloaderStatsMiddleware.fromCrawler(crawler);
  const request = new Request('http://h.test/', { method: 'POST', body: 'abc' });
  middleware.processRequest(request);
  middleware.processResponse(
    request,
    new Response(request.url, { status: 404, body: Buffer.from('gone') }),
  );
  middleware.processException(request, new DownloadTimeoutError('late'));
  expect(stats.getAll()).toMatchObject({
    'downloader/request_count': 1,
    'downloader/request_method_count/POST': 1,
    'downloader/response_count': 1,
    'downloader/response_status_count/404': 1,
    'downloader/exception_count': 1,
    'downloader/exception_type_count/DownloadTimeoutError': 1,
  });
  expect(stats.get('downloader/response_bytes')).toBeGreaterThanOrEqual(4);
});
