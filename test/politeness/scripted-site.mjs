import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A site that answers each request as `answer(number, seconds since the first)` says: `{ status, latencyMs, headers }`.
 * It notes when each request came, what it got, and how many were under way over time.
 */
export async function scriptedSite(answer) {
  const requests = [];
  let start;
  let open = 0;
  let area = 0;
  let last = performance.now();
  const change = (by) => {
    const now = performance.now();
    area += open * (now - last);
    last = now;
    open += by;
  };
  const serve = async (response) => {
    start ??= performance.now();
    change(1);
    const seconds = (performance.now() - start) / 1000;
    const number = requests.length;
    const { status = 200, latencyMs = 0, headers = {} } = answer(number, seconds);
    requests.push({ seconds, status, latencyMs });
    await sleep(latencyMs);
    response.writeHead(status, { 'content-type': 'text/html', ...headers });
    response.end('page', () => change(-1));
  };
  const server = createServer((_, response) => void serve(response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    /** Requests under way, summed over milliseconds, until now. */
    load() {
      change(0);
      return area;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
