import { expect, test } from 'vitest';

import { startSite } from './site.ts';

test('a route is text, a reply, or a function of the request', async () => {
  await using site = await startSite({
    '/text': '<p>hello</p>',
    '/reply': { status: 503, headers: { 'retry-after': '2' }, body: 'later' },
    '/echo': ({ method, headers, body }) => ({
      headers: { 'content-type': 'text/plain' },
      body: [method, headers['x-name'], body.toString()].join(' '),
    }),
  });

  const text = await fetch(`${site.url}/text`);
  expect(text.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await text.text()).toBe('<p>hello</p>');

  const reply = await fetch(`${site.url}/reply`);
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2']);

  const echo = await fetch(`${site.url}/echo`, {
    method: 'POST',
    headers: { 'x-name': 'ada' },
    body: 'a=1',
  });
  expect(await echo.text()).toBe('POST ada a=1');
});

test('a raw handler owns the response, and may break it', async () => {
  await using site = await startSite({
    '/raw': (_request, _req, res) => void res.writeHead(201).end('made'),
    '/cut': (_request, req) => void req.socket.destroy(),
  });
  expect((await fetch(`${site.url}/raw`)).status).toBe(201);
  await expect(fetch(`${site.url}/cut`)).rejects.toThrow('fetch failed');
});

test('what no route takes is 404, or goes to *', async () => {
  await using plain = await startSite({});
  expect((await fetch(`${plain.url}/nowhere`)).status).toBe(404);

  await using caught = await startSite({ '*': ({ url }) => url });
  expect(await (await fetch(`${caught.url}/any/where?a=1`)).text()).toBe('/any/where?a=1');
});

test('requests are counted by path, and by query where one is given', async () => {
  await using site = await startSite({ '/page': 'x' });
  for (const query of ['', '?n=1', '?n=2', '?n=2']) await fetch(`${site.url}/page${query}`);
  expect(site.hits('/page')).toBe(4);
  expect(site.hits('/page?n=2')).toBe(2);
  expect(site.hits('/other')).toBe(0);
  expect(site.requests.map(({ url }) => url)).toEqual([
    '/page',
    '/page?n=1',
    '/page?n=2',
    '/page?n=2',
  ]);
});

test('a delay holds back the whole response', async () => {
  await using site = await startSite({ '/': { body: 'x', delayMs: 60 } });
  const start = performance.now();
  await fetch(site.url);
  expect(performance.now() - start).toBeGreaterThanOrEqual(55);
});

test('a handler that throws is a 500 with its message', async () => {
  await using site = await startSite({
    '/': () => {
      throw new Error('no such table');
    },
  });
  const response = await fetch(site.url);
  expect([response.status, await response.text()]).toEqual([500, 'Error: no such table']);
});

test('disposing ends open connections and frees the port', async () => {
  const site = await startSite({ '/': () => new Promise<string>(() => {}) });
  const pending = fetch(site.url).catch((error: Error) => error.message);
  while (site.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await site[Symbol.asyncDispose]();
  expect(await pending).toBe('fetch failed');
  await using next = await startSite({}, { port: site.port });
  expect(next.port).toBe(site.port);
});
