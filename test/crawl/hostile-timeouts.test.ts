import { Request, Spider, type SpiderOutput } from 'lycosa';
import { describe, expect, test } from 'vitest';

import { repeat, startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const once = { RETRY_ENABLED: false, CONCURRENT_REQUESTS: 1, DOWNLOAD_TIMEOUT: 20 };

describe('a server that falls silent', () => {
  test.concurrent('before the headers: DOWNLOAD_HEADERS_TIMEOUT, with host, phase and time', async () => {
    await using server = await startRaw((socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: '));
    const { items, result } = await crawl(pageSpider([server.url]), {
      ...once,
      DOWNLOAD_HEADERS_TIMEOUT: 0.3,
    });
    expect(result.stats['security/blocked/DOWNLOAD_HEADERS_TIMEOUT']).toBe(1);
    expect(items).toEqual([
      {
        error: 'DownloadTimeoutError',
        message: `<GET ${server.url}> had no response headers after 0.3 s (waiting for the response headers). DOWNLOAD_HEADERS_TIMEOUT or meta.downloadHeadersTimeout allows more.`,
      },
    ]);
    await server.whenQuiet();
  });

  test.concurrent('in a body: DOWNLOAD_IDLE_TIMEOUT, counted from the last byte', async () => {
    await using server = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
      for (let i = 1; i <= 4; i++) setTimeout(() => socket.write('abcd'), i * 150);
    });
    const start = performance.now();
    const { items } = await crawl(pageSpider([server.url]), {
      ...once,
      DOWNLOAD_IDLE_TIMEOUT: 0.4,
    });
    expect(performance.now() - start).toBeGreaterThanOrEqual(900);
    expect(items).toEqual([
      {
        error: 'DownloadTimeoutError',
        message: `<GET ${server.url}> was sent no more for 0.4 s (reading the body, 16 bytes so far). DOWNLOAD_IDLE_TIMEOUT or meta.downloadIdleTimeout allows more.`,
      },
    ]);
    await server.whenQuiet();
  });

  test.concurrent('a slow but steady body is only bound by DOWNLOAD_TIMEOUT', async () => {
    await using server = await startRaw((socket, _, count) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n');
      repeat(socket, 'a', count === 0 ? 60 : 200);
    });
    const settings = { ...once, DOWNLOAD_IDLE_TIMEOUT: 0.4, DOWNLOAD_HEADERS_TIMEOUT: 0.4 };
    const steady = await crawl(pageSpider([server.url]), settings);
    expect(steady.items).toMatchObject([{ text: 'aaaaaaaaaa' }]);
    const bound = await crawl(pageSpider([server.url]), { ...settings, DOWNLOAD_TIMEOUT: 0.9 });
    expect(bound.items).toEqual([
      {
        error: 'DownloadTimeoutError',
        message: expect.stringMatching(
          /took longer than 0\.9 s \(reading the body, \d bytes so far\)/,
        ),
      },
    ]);
  });

  test.concurrent('a request may allow more, and 0 is no limit', async () => {
    await using server = await startRaw((socket) => {
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'), 500);
      setTimeout(() => socket.write('ok'), 1000);
    });
    class Patient extends Spider {
      static override readonly name = 'patient';
      override start(): SpiderOutput {
        return [0, 5].map(
          (seconds) =>
            new Request(server.url, {
              dontFilter: true,
              errback: this.onError,
              meta: { downloadHeadersTimeout: seconds, downloadIdleTimeout: seconds },
            }),
        );
      }
      override parse(response: { text: string }): SpiderOutput {
        return { text: response.text };
      }
      onError({ error }: { error: Error }): SpiderOutput {
        return { error: error.message };
      }
    }
    const { items } = await crawl(Patient, {
      ...once,
      CONCURRENT_REQUESTS: 2,
      DOWNLOAD_HEADERS_TIMEOUT: 0.1,
      DOWNLOAD_IDLE_TIMEOUT: 0.1,
    });
    expect(items).toEqual([{ text: 'ok' }, { text: 'ok' }]);
  });
});

test('where an answer needs the lenient reader, the second attempt waits for the delay of the slot', async () => {
  const times: number[] = [];
  await using server = await startRaw((socket) => {
    times.push(performance.now());
    socket.end('HTTP/1.1 200 OK\nContent-Length: 2\n\nok');
  });
  const { items, result } = await crawl(pageSpider([server.url, `${server.url}b`]), {
    ...once,
    DOWNLOAD_DELAY: 0.3,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  });
  expect(items).toMatchObject([{ text: 'ok' }, { text: 'ok' }]);
  expect(times).toHaveLength(3);
  for (const [i, time] of times.slice(1).entries())
    expect(time - times[i]!).toBeGreaterThanOrEqual(150);
  // It is one download all the same.
  expect(result.stats).toMatchObject({ 'downloader/request_count': 2 });
});

test('where a kept connection was closed, the second attempt waits for the delay of the slot', async () => {
  const times: number[] = [];
  await using server = await startRaw((socket, _, count) => {
    times.push(performance.now());
    if (count === 1) socket.destroy();
    else socket.write(ok);
  });
  const { items } = await crawl(pageSpider([server.url, `${server.url}b`]), {
    ...once,
    DOWNLOAD_DELAY: 0.3,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  });
  expect(items).toMatchObject([{ text: 'ok' }, { text: 'ok' }]);
  expect(times).toHaveLength(3);
  for (const [i, time] of times.slice(1).entries())
    expect(time - times[i]!).toBeGreaterThanOrEqual(150);
});

describe('a port that refuses', () => {
  const refused = async (settings = {}): Promise<{ level: string; msg: string }[]> => {
    const server = await startRaw(() => {});
    await server[Symbol.asyncDispose]();
    class Plain extends Spider {
      static override readonly name = 'plain';
      override readonly startUrls = [server.url];
      override parse(): void {}
    }
    const { log } = await crawl(Plain, settings);
    return log
      .filter(({ msg }) => msg.includes(`127.0.0.1:${server.port}`))
      .map(({ level, msg }) => ({ level, msg: msg.replaceAll(server.url, 'URL/') }));
  };

  test.each([true, false])(
    'is one ERROR, and no warning (robots.txt: %s)',
    async (ROBOTSTXT_OBEY) => {
      const log = await refused({ ROBOTSTXT_OBEY, ROBOTSTXT_RETRY_DELAY: 0, RETRY_TIMES: 2 });
      // That pages wait for robots.txt is told at INFO.
      const shown = log.filter(({ level }) => level !== 'DEBUG' && level !== 'INFO');
      expect(shown).toHaveLength(1);
      expect(shown[0]).toMatchObject({
        level: 'ERROR',
        msg: expect.stringContaining('refused the connection'),
      });
      expect(log.filter(({ msg }) => msg.startsWith('Retrying')).length).toBeGreaterThanOrEqual(2);
      expect(log.some(({ msg }) => msg.startsWith('Gave up retrying'))).toBe(true);
    },
  );
});
