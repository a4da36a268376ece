import type { Socket } from 'node:net';

import { Request, type Response, Spider, type SpiderOutput } from 'lycosa';
import { expect, test } from 'vitest';

import { startRaw } from './raw-server.ts';
import { crawl } from './scrape.ts';

const exchanges = 10_000;

const page = (n: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${n.length}\r\n\r\n${n}`;
const chunks = (n: string): string => `${n.length.toString(16)}\r\n${n}\r\n0\r\n\r\n`;

/** Ways to answer request `n`; `wrong` is what nobody asked for. */
const ways: readonly ((socket: Socket, n: string, wrong: string) => void)[] = [
  (socket, n) => socket.write(page(n)),
  (socket, n) => socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(n)}`),
  (socket, n) => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${n}`),
  (socket, n) => socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${page(n)}`),
  (socket, n, wrong) => socket.write(page(n) + page(wrong)),
  (socket, n, wrong) => {
    socket.write(page(n));
    // On a connection that is idle, or has been used again by then.
    setTimeout(() => socket.write(page(wrong)), Number(n) % 4);
  },
  (socket, n, wrong) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Length: ${n.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(n)}${page(wrong)}`,
    ),
  (socket, n) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(n)}`,
    ),
  (socket, n, wrong) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Length: ${n.length}\r\nContent-Length: ${n.length + 9}\r\n\r\n${n}${page(wrong)}`,
    ),
  (socket, n) =>
    socket.write(`HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: ${n.length}\r\n\r\n${n}`),
];

test(
  `of ${exchanges} exchanges with a server that answers too much, each response belongs to its request`,
  {
    timeout: 60_000,
  },
  async () => {
    let state = 2026;
    const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
    await using server = await startRaw((socket, request) => {
      const n = /^GET \/(\d+)/.exec(request)![1]!;
      const way = ways[Math.floor(random() * ways.length)]!;
      // Some answers wait, so that they come in another order than the requests.
      const answer = (): void => {
        if (!socket.destroyed) way(socket, n, String(Number(n) + exchanges));
      };
      if (random() < 0.2) setTimeout(answer, random() * 5);
      else answer();
    });
    let right = 0;
    const wrong: string[] = [];
    let failed = 0;
    class Many extends Spider {
      static override readonly name = 'many';
      override *start(): SpiderOutput {
        for (let n = 0; n < exchanges; n++) {
          yield new Request(server.url + n, { dontFilter: true, errback: this.onError });
        }
      }
      override parse({ url, text }: Response): undefined {
        if (url === server.url + text) right++;
        else wrong.push(`${url}: ${text}`);
      }
      onError(): void {
        failed++;
      }
    }
    const { result } = await crawl(Many, {
      CONCURRENT_REQUESTS: 16,
      CONCURRENT_REQUESTS_PER_DOMAIN: 16,
      RETRY_ENABLED: false,
      DOWNLOAD_TIMEOUT: 10,
    });
    expect(wrong).toEqual([]);
    expect(right + failed).toBe(exchanges);
    // Two lengths that differ are refused; everything else can be read.
    expect(right).toBeGreaterThan(exchanges * 0.8);
    expect(result.stats['account/left'] ?? 0).toBe(0);
  },
);
