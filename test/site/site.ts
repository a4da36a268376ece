import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as the site received it. */
export interface SiteRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** When its head had arrived, in milliseconds since the epoch. */
  readonly time: number;
}

export interface Reply {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>>;
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** Waits before the head is sent. */
  readonly delayMs?: number;
}

/** Answers a request, or sees to `res` itself and returns nothing. */
export type Handler = (
  request: SiteRequest,
  req: IncomingMessage,
  res: ServerResponse,
) => Answer | undefined | void | Promise<Answer | undefined | void>;

/** HTML as text, or the parts of a reply. */
export type Answer = string | Reply;

/**
 * What is served where. The key is a path without query; `*` takes what no other key does.
 * Without it the answer is 404.
 */
export type Routes = Readonly<Record<string, Handler | Answer>>;

export interface SiteOptions {
  /** Any free one by default. */
  readonly port?: number;
}

/** A real HTTP server on the loopback interface. */
export interface Site extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly SiteRequest[];
  /** Requests of a path; one with a query counts that query only. */
  hits(path: string): number;
}

/**
 * Starts a site with a route per behaviour:
 *
 * ```ts
 * await using site = await startSite({
 *   '/': '<a href="/next">next</a>',
 *   '/next': { status: 503, headers: { 'retry-after': '1' } },
 *   '/echo': (request) => ({ body: request.body }),
 *   '/broken': (request, req) => void req.socket.destroy(),
 * });
 * ```
 */
export async function startSite(routes: Routes, options: SiteOptions = {}): Promise<Site> {
  const requests: SiteRequest[] = [];
  const server = createServer((req, res) => {
    serve(routes, requests, req, res).catch((error: unknown) => {
      if (!res.headersSent) res.writeHead(500, { 'content-type': 'text/plain' });
      res.end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    hits: (path) =>
      requests.filter(({ url }) => (path.includes('?') ? url : pathOf(url)) === path).length,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  routes: Routes,
  requests: SiteRequest[],
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const time = Date.now();
  const url = req.url ?? '/';
  const chunks: Buffer[] = [];
  // A client that goes away in the middle of its body is one of the behaviours under test.
  req.on('error', () => {});
  const position = requests.length;
  requests.push({
    method: req.method ?? 'GET',
    url,
    headers: req.headers,
    body: Buffer.alloc(0),
    time,
  });
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const request = { ...requests[position]!, body: Buffer.concat(chunks) };
  requests[position] = request;

  const path = pathOf(url);
  const route = Object.hasOwn(routes, path) ? routes[path] : routes['*'];
  const answer = typeof route === 'function' ? await route(request, req, res) : route;
  if (answer !== undefined) await reply(answer, res);
  else if (route === undefined) await reply({ status: 404, body: 'Not found' }, res);
}

async function reply(answer: Answer, res: ServerResponse): Promise<void> {
  const { status = 200, headers = {}, body = '', delayMs } = toReply(answer);
  if (delayMs) await new Promise((resolve) => setTimeout(resolve, delayMs));
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (!res.hasHeader('content-type')) res.setHeader('content-type', 'text/html; charset=utf-8');
  res.writeHead(status);
  res.end(body);
}

function toReply(answer: Answer): Reply {
  return typeof answer === 'string' ? { body: answer } : answer;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
