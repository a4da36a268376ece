import zlib from 'node:zlib';

import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { DownloadCancelledError } from '../../errors.ts';
import { Request, type RequestMeta } from '../../http/request.ts';
import { HtmlResponse } from '../../http/response-types.ts';
import { Response } from '../../http/response.ts';
import { HttpCompressionMiddleware } from './http-compression.ts';

function start(encoding: string | undefined, body: Buffer, meta: RequestMeta = {}) {
  const fake = fakeCrawler();
  const request = new Request('http://h.test/', { meta });
  const headers = {
    'Content-Type': 'text/html',
    ...(encoding !== undefined && { 'Content-Encoding': encoding }),
  };
  const response = new Response(request.url, { headers, body, request });
  const run = () =>
    HttpCompressionMiddleware.fromCrawler(fake.crawler).processResponse(request, response);
  return { ...fake, response, run };
}

const text = '<p>hi</p>';
const gzipped = Buffer.from('1f8b0800000000000003b329b0cbc8b4d12fb0030065d2376d09000000', 'hex');

test.each([
  ['gzip', Buffer.from(text)],
  ['deflate', Buffer.from('b329b0cbc8b4d12fb00300', 'hex')],
  ['deflate', Buffer.from('789cb329b0cbc8b4d12fb003000e6f02d5', 'hex')],
  ['x-gzip', gzipped],
  ['br', zlib.brotliCompressSync(text)],
  ['zstd', zlib.zstdCompressSync(text)],
  ['zstd', Buffer.from(text)],
  ['br', Buffer.from(text)],
  ['gzip, br', zlib.brotliCompressSync(gzipped)],
])('%s is undone', async (encoding, body) => {
  const response = await start(encoding, body).run();
  expect(response.body.toString()).toBe(text);
  expect(response).toBeInstanceOf(HtmlResponse);
  expect(response.headers.has('content-encoding')).toBe(false);
  expect(response.flags).toEqual(['decoded']);
});

test('a body that ends early is kept as far as it goes', async () => {
  const response = await start('gzip', gzipped.subarray(0, -8)).run();
  expect(response.body.toString()).toBe(text);
  expect(response.flags).toContain('truncated');
});

test('small bodies need no promise, empty ones and unknown codings stay as they are', () => {
  expect(start('gzip', gzipped).run()).toBeInstanceOf(Response);
  expect((start('gzip', Buffer.alloc(0)).run() as Response).body).toHaveLength(0);
  const { response, run } = start('aes128gcm', gzipped);
  expect(run()).toBe(response);
  const plain = start(undefined, gzipped);
  expect(plain.run()).toBe(plain.response);
});

test('large bodies are decoded in the background', async () => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));
  for (const [encoding, compressed] of [
    ['gzip', zlib.gzipSync(body)],
    ['br', zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['gzip', zlib.gzipSync(Buffer.alloc(5_000_000))],
  ] as const) {
    const response = await start(encoding, compressed).run();
    expect(response.body.length === body.length || response.body.length === 5_000_000).toBe(true);
  }
});

test('large bodies take turns, and a bomb or a damaged one holds up none', async () => {
  const whole = zlib.gzipSync(Buffer.alloc(6_000_000));
  const damaged = zlib.gzipSync(Buffer.alloc(5_000_000)).subarray(0, -8);
  const bomb = zlib.gzipSync(Buffer.alloc(30_000_000));
  const limit = { downloadMaxsize: 10_000_000 };
  const runs = [whole, bomb, damaged, whole, bomb, damaged, whole].map(async (body) =>
    start('gzip', body, limit).run(),
  );
  const ends = await Promise.allSettled(runs);
  expect(
    ends.map((end) => (end.status === 'fulfilled' ? end.value.body.length : 'too large')),
  ).toEqual([6_000_000, 'too large', 5_000_000, 6_000_000, 'too large', 5_000_000, 6_000_000]);
});

test.each([1000, 2_000_000])('a bomb is stopped at %d bytes', async (downloadMaxsize) => {
  for (const [encoding, body] of [
    ['gzip', zlib.gzipSync(Buffer.alloc(10_000_000))],
    ['br', zlib.brotliCompressSync(Buffer.alloc(10_000_000))],
    ['zstd', zlib.zstdCompressSync(Buffer.alloc(10_000_000))],
  ] as const) {
    const { run, stats } = start(encoding, body, { downloadMaxsize });
    await expect((async () => run())()).rejects.toThrow(DownloadCancelledError);
    expect(stats.get('security/blocked/DOWNLOAD_MAXSIZE')).toBe(1);
  }
});

test('more layers than DOWNLOAD_MAX_ENCODINGS are refused', () => {
  const { run, stats } = start('gzip, gzip, gzip, gzip', gzipped);
  expect(run).toThrow(DownloadCancelledError);
  expect(stats.get('security/blocked/DOWNLOAD_MAX_ENCODINGS')).toBe(1);
});

test('it says what it can decode', () => {
  const request = new Request('http://h.test/');
  HttpCompressionMiddleware.fromCrawler(fakeCrawler().crawler).processRequest(request);
  expect(request.headers.get('accept-encoding')).toMatch(/^gzip, deflate, br/);
});
