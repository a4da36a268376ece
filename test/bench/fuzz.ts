import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';

import { Crawler, createLogger, Request, Settings, SlotRegistry, Spider } from 'lycosa';

/** What a run of malformed responses left. */
export interface FuzzResult {
  readonly responses: number;
  readonly pages: number;
  readonly errors: number;
  /** Items by the name of their error, where it is none of downloading. */
  readonly strange: readonly string[];
  readonly openSockets: number;
  readonly heldPlaces: number;
  readonly account: boolean;
  readonly rejections: number;
}

const templates: readonly string[] = [
  'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 12\r\n\r\n<p>hello</p>',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-T: t\r\n\r\n',
  'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end',
  'HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd',
  'HTTP/1.1 200 OK\nContent-Length: 2\nSet-Cookie: a=b; Domain=x\n\nok',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 204 No Content\r\nETag: "a"\r\n\r\n',
  'HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\u00ff\r\nContent-Length: 70\r\n\r\n<meta charset=utf-16><meta http-equiv=refresh content="0;url=//[x"><p>',
];

/** Numbers from 0 to below 1, the same for the same seed: mulberry32. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One response with a few things wrong: flipped bits, cuts, repeats and splices. */
function mutate(next: () => number): Buffer {
  const pick = (length: number): number => Math.floor(next() * length);
  let bytes: Buffer = Buffer.from(templates[pick(templates.length)]!, 'latin1');
  for (let left = pick(4); left >= 0; left--) {
    const at = pick(bytes.length || 1);
    const other = Buffer.from(templates[pick(templates.length)]!, 'latin1');
    const end = at + pick(20);
    switch (pick(7)) {
      case 0:
        if (bytes.length > 0) bytes[at] = bytes[at]! ^ (1 << pick(8));
        break;
      case 1:
        bytes = bytes.subarray(0, at);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(pick(other.length))]);
        break;
      case 5:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n'), bytes.subarray(at)]);
        break;
      default:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.alloc(pick(9), pick(256)),
          bytes.subarray(at),
        ]);
    }
  }
  return bytes;
}

/**
 * Crawls a server that answers `count` requests with malformed responses.
 *
 * @param onProgress - Called each time another tenth is done.
 */
export async function fuzz(
  count: number,
  seed: number,
  onProgress: (done: number) => void = () => {},
): Promise<FuzzResult> {
  const next = random(seed);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', () => {
      const bytes = mutate(next);
      const cut = Math.floor(next() * bytes.length);
      socket.write(bytes.subarray(0, cut));
      // Most close; some leave the client to its own devices.
      if (next() < 0.9) setImmediate(() => socket.end(bytes.subarray(cut)));
      else socket.write(bytes.subarray(cut));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const strange: string[] = [];
  let pages = 0;
  let errors = 0;
  let rejections = 0;
  const progress = (): void => {
    if ((pages + errors) % Math.ceil(count / 10) === 0) onProgress(pages + errors);
  };
  const onRejection = (): void => void rejections++;
  process.on('unhandledRejection', onRejection);
  class Fuzz extends Spider {
    static override readonly name = 'fuzz';
    override *start(): Generator<Request> {
      for (let i = 0; i < count; i++) yield new Request(`${url}${i}`, { errback: this.onError });
    }
    override parse(): void {
      pages++;
      progress();
    }
    onError({ error }: { error: Error }): void {
      errors++;
      progress();
      const { code = '' } = error as NodeJS.ErrnoException;
      if (
        !/^ERR_(?:DOWNLOAD|CANNOT_RESOLVE|DATA_LOSS|HTTP|CONN)/.test(code) &&
        error.name !== 'IgnoreRequest'
      )
        strange.push(`${error.name}: ${error.message}`);
    }
  }
  const settings = new Settings();
  for (const [name, value] of Object.entries({
    CONCURRENT_REQUESTS: 64,
    CONCURRENT_REQUESTS_PER_DOMAIN: 64,
    DOWNLOAD_TIMEOUT: 0.5,
    BACKOFF_ENABLED: false,
    RETRY_ENABLED: false,
    ROBOTSTXT_OBEY: false,
    STATS_DUMP: false,
  }))
    settings.set(name as 'ROBOTSTXT_OBEY', value as boolean);
  const log = createLogger({ level: 'CRITICAL', destination: { write: () => {} } });
  const slots = new SlotRegistry();
  const crawler = new Crawler(Fuzz, settings, { log, slots });
  const { stats } = await crawler.crawl();
  // The other side hears of it a moment later.
  for (let wait = 0; wait < 100 && sockets.size > 0; wait++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const openSockets = sockets.size;
  process.off('unhandledRejection', onRejection);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  const get = (name: string): number => Number(stats[`account/${name}`] ?? 0);
  return {
    responses: count,
    pages,
    errors,
    strange,
    openSockets,
    heldPlaces: [...slots.values()].reduce(
      (sum, slot) => sum + slot.transferring + slot.reserved,
      0,
    ),
    account: get('scheduled') === get('done') + get('failed') + get('dropped') && get('left') === 0,
    rejections,
  };
}
