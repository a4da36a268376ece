import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as a host received it. */
export interface Hit {
  readonly host: number;
  readonly page: number;
  /** When its head had arrived, in milliseconds. */
  readonly time: number;
  readonly worker: string;
}

/** A site of several hosts that writes down what it is asked; all of it runs in this process. */
export interface Recorder extends AsyncDisposable {
  /** The page where it begins. */
  readonly start: string;
  readonly hits: readonly Hit[];
  /** Pages that are reached by no link but that of their parent. */
  readonly pages: number;
}

/**
 * A tree of pages over `hosts` hosts, each with one path to it, so that a page that is lost takes its subtree along; and
 * links back that are duplicates.
 *
 * @param answerMs - How long an answer takes at most; drawn for each.
 */
export async function startRecorder(options: {
  pages: number;
  hosts: number;
  answerMs: number;
  random: () => number;
}): Promise<Recorder> {
  const { pages, hosts, answerMs, random } = options;
  const hits: Hit[] = [];
  const servers: Server[] = [];
  let port = 0;
  const urlOf = (page: number): string =>
    `http://127.0.0.${1 + ((page * 7919) % hosts)}:${port}/${page}`;
  for (let host = 1; host <= hosts; host++) {
    const server = createServer((request, response) => {
      const page = Number(request.url!.slice(1));
      const worker = request.headers['user-agent'] ?? '';
      hits.push({ host, page, time: performance.now(), worker });
      const links = [3 * page + 1, 3 * page + 2, 3 * page + 3, Math.floor(page / 3), 0];
      const text = links
        .filter((link) => link < pages)
        .map((link) => `<a href="${urlOf(link)}">${link}</a>`)
        .join('');
      setTimeout(() => {
        response.setHeader('content-type', 'text/html');
        response.end(`<p>page ${page}</p>${text}`);
      }, random() * answerMs);
    });
    // The same port on each address of the loopback.
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, `127.0.0.${host}`, resolve);
    });
    port = (server.address() as AddressInfo).port;
    servers.push(server);
  }
  return {
    start: urlOf(0),
    hits,
    pages,
    async [Symbol.asyncDispose]() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** The shortest time between two requests to one host, in milliseconds. */
export function shortestGap(hits: readonly Hit[]): number {
  let shortest = Infinity;
  const last = new Map<number, number>();
  for (const { host, time } of hits) {
    const before = last.get(host);
    if (before !== undefined) shortest = Math.min(shortest, time - before);
    last.set(host, time);
  }
  return shortest;
}
