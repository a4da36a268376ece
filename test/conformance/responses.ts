import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import { crawl, pageSpider } from '../crawl/scrape.ts';
import type { Data, Verdict } from './vectors.ts';

interface Outcome {
  readonly url: string;
  readonly status?: number;
  readonly text?: string;
  readonly error?: string;
}

const marker = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok';

/**
 * Sends the bytes of each case over a real connection, and after each an ordinary response, which must be what its own
 * request gets.
 */
export async function judgeResponses(cases: readonly Data[]): Promise<Verdict[]> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const [, kind, place] = /^GET \/(case|next)\/(\d+)/.exec(data.toString('latin1')) ?? [];
      if (kind === 'next') socket.end(marker);
      else if (place !== undefined) socket.end(Buffer.from(cases[Number(place)].raw as string));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const urls = cases.flatMap((_, at) => [`${origin}/case/${at}`, `${origin}/next/${at}`]);
    const { items } = await crawl(
      pageSpider(urls, (response) => ({
        url: response.url,
        status: response.status,
        text: response.body.toString('latin1'),
      })),
      {
        CONCURRENT_REQUESTS: 1,
        DOWNLOAD_TIMEOUT: 5,
        DOWNLOAD_DELAY: 0,
        RETRY_ENABLED: false,
        REDIRECT_ENABLED: false,
        HTTPERROR_ALLOW_ALL: true,
        DOWNLOADER_MIDDLEWARES: [],
      },
    );
    const outcomes = items as Outcome[];
    const next = new Set(outcomes.filter(({ text }) => text === 'ok').map(({ url }) => url));
    return cases.map((one, at): Verdict => {
      const outcome = outcomes.find(({ url }) => url === `${origin}/case/${at}`);
      if (!next.has(`${origin}/next/${at}`))
        return { got: 'the next request got no answer of its own' };
      return judge(one, outcome);
    });
  } finally {
    server.close();
  }
}

/** Without an outcome there was an error: what came was refused, and that is all right where the parser says so. */
function judge({ error, statuses, bodies, raw }: Data, outcome: Outcome | undefined): Verdict {
  const expected = (statuses as number[]).find((status) => status >= 200);
  if (outcome === undefined)
    return error !== null || expected === undefined || mayFail(raw) || { got: 'an error' };
  // A lenient parser may take what the strict one refuses, but makes nothing up.
  if (expected !== undefined && outcome.status !== expected) return { got: outcome };
  const body = String(bodies ?? '');
  const isPlain = error === null && (statuses as number[]).length === 1 && /^[\w ]+$/.test(body);
  return !isPlain || outcome.text!.replaceAll(/[\r\n]/g, '').startsWith(body) || { got: outcome };
}

/** Node's parser takes other protocols too, and does not mind that a body is cut; to a crawler both are errors. */
function mayFail(raw: string): boolean {
  const [head = '', body = ''] = raw.split('\r\n\r\n', 2);
  const announced = Number(/^content-length:\s*(\d+)\s*$/im.exec(head)?.[1] ?? 0);
  return !/^\s*HTTP\/1\.\d/.test(raw) || announced > Buffer.byteLength(body);
}
