import { request } from 'node:http';
import { text } from 'node:stream/consumers';

import { Settings } from 'lycosa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { hasRedis, type RedisServer, startRedis } from '../../../../test/redis-server.ts';
import { Fleet } from '../fleet.ts';
import { Access, sessionMs } from './access.ts';
import { Dashboard } from './dashboard.ts';
import { dashboardOptions } from './settings.ts';

const token = 'a token of 24 characters';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

type Headers = Readonly<Record<string, string>>;

/** As any program could ask, with any header. */
async function ask(
  url: string,
  options: { method?: string; headers?: Headers; body?: string } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      text(response)
        .then((got) =>
          resolve({ status: response.statusCode!, headers: response.headers, body: got }),
        )
        .catch(reject);
    });
    sent.on('error', reject).end(body);
  });
}

function order(url: string, headers: Headers = {}, body = '{"names":["nobody"]}'): Promise<Answer> {
  const json = { 'content-type': 'application/json', ...headers };
  return ask(`${url}api/stop`, { method: 'POST', headers: json, body });
}

describe.skipIf(!hasRedis)('with a redis-server', () => {
  let server: RedisServer;
  let fleet: Fleet;

  beforeAll(async () => {
    server = await startRedis();
    fleet = await Fleet.open({ redis: { url: server.url }, sets: {} });
  });

  afterAll(async () => {
    await fleet.close();
    await server[Symbol.asyncDispose]();
  });

  test('an address that others reach is refused without a token, and a token that is short', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.7', 'fleet.example.com']) {
      await expect(Dashboard.open(fleet, { host, port: 0 })).rejects.toThrow(
        `DASHBOARD_HOST "${host}" can be reached from other machines`,
      );
    }
    await expect(Dashboard.open(fleet, { port: 0, token: 'short' })).rejects.toThrow(
      'DASHBOARD_TOKEN must have 16 characters or more, got 5.',
    );
    await using open = await Dashboard.open(fleet, { host: '0.0.0.0', port: 0, token });
    expect(await ask(open.url.replace('0.0.0.0', '127.0.0.1'))).toMatchObject({ status: 302 });
  });

  test('a port that is taken is told with the way out', async () => {
    await using first = await Dashboard.open(fleet, { port: 0 });
    const port = Number(new URL(first.url).port);
    await expect(Dashboard.open(fleet, { port })).rejects.toThrow(
      `DASHBOARD_PORT ${port} at 127.0.0.1 is taken`,
    );
  });

  test('a foreign name that leads here is not answered, an address and allowed names are', async () => {
    await using open = await Dashboard.open(fleet, {
      port: 0,
      allowedHosts: ['fleet.example.com'],
    });
    const statusOf = async (host: string): Promise<number> =>
      (await ask(`${open.url}api/overview`, { headers: { host } })).status;
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'fleet.example.com.evil',
    ])
      expect([host, await statusOf(host)]).toEqual([host, 421]);
    for (const host of [
      'localhost',
      'localhost:1',
      '127.0.0.1:80',
      '[::1]:6080',
      '10.0.0.3',
      'Fleet.Example.com',
    ])
      expect([host, await statusOf(host)]).toEqual([host, 200]);
  });

  test('orders and data are refused to pages of other sites, and orders that are no JSON', async () => {
    await using open = await Dashboard.open(fleet, { port: 0 });
    const own = new URL(open.url).origin;
    const foreign: Headers[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: own },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:1' },
    ];
    for (const headers of foreign) {
      expect(await order(open.url, headers)).toMatchObject({ status: 403 });
      expect(await ask(`${open.url}api/overview`, { headers })).toMatchObject({ status: 403 });
      expect(await ask(`${open.url}spiders.csv`, { headers })).toMatchObject({ status: 403 });
    }
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      '',
    ]) {
      expect(await order(open.url, { 'content-type': type })).toMatchObject({ status: 415 });
    }
    const ours: Headers[] = [{}, { origin: own }, { 'sec-fetch-site': 'same-origin' }];
    for (const headers of ours) {
      expect(await order(open.url, headers)).toMatchObject({ status: 200 });
    }
    expect(await ask(open.url, { headers: { 'sec-fetch-site': 'cross-site' } })).toMatchObject({
      status: 200,
    });
  });

  test('every answer forbids scripts and frames of others', async () => {
    await using open = await Dashboard.open(fleet, { port: 0 });
    for (const path of [
      '',
      'api/overview',
      'style.css',
      'nothing',
      'spiders.csv',
      'api/spider?name=<b>',
    ]) {
      const { headers } = await ask(open.url + path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
          "require-trusted-types-for 'script'",
        ]),
      );
      expect(String(headers['content-security-policy'])).not.toMatch(/unsafe|http:|https:|data:/);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('no path leads to a file that is not of the page', async () => {
    await using open = await Dashboard.open(fleet, { port: 0 });
    for (const path of [
      '..%2f..%2fpackage.json',
      '%2e%2e/app.ts',
      '..%5capp.ts',
      'tsconfig.json',
      'constructor',
      '__proto__',
      'main.ts%00',
    ])
      expect([path, (await ask(open.url + path)).status]).toEqual([path, 404]);
    expect(await ask(`${open.url}api/log?name=..%2F..%2Fetc%2Fpasswd&attempt=1`)).toMatchObject({
      status: 200,
      body: '{"attempt":1,"lines":[]}',
    });
  });

  test('what cannot be asked is told, and changes nothing', async () => {
    await using open = await Dashboard.open(fleet, { port: 0 });
    const bodies = [
      '',
      '{',
      '[]',
      'null',
      '{"names":[]}',
      '{"names":"all"}',
      '{"names":[1]}',
      '{"names":[""]}',
    ];
    for (const body of bodies) expect((await order(open.url, {}, body)).status).toBe(400);
    const big = JSON.stringify({ names: ['x'.repeat(5_000_000)] });
    expect((await order(open.url, {}, big)).status).toBe(413);
    for (const query of ['state=gone', 'sort=constructor', 'offset=-1', 'limit=many'])
      expect((await ask(`${open.url}api/spiders?${query}`)).status).toBe(400);
    expect((await ask(`${open.url}api/spider`)).status).toBe(400);
    expect((await ask(`${open.url}api/spider?name=nobody`)).status).toBe(404);
  });

  test('with a token nothing is told before a login, and the browser keeps a mark that no script sees', async () => {
    await using open = await Dashboard.open(fleet, { port: 0, token });
    expect(await ask(open.url)).toMatchObject({ status: 302, headers: { location: 'login' } });
    for (const path of ['main.js', 'index.html'])
      expect((await ask(open.url + path)).status).toBe(302);
    for (const path of ['api/overview', 'api/log?name=x', 'spiders.csv'])
      expect((await ask(open.url + path)).status).toBe(401);
    expect((await order(open.url)).status).toBe(401);

    const login = (typed: string): Promise<Answer> =>
      ask(`${open.url}login`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: new URL(open.url).origin,
        },
        body: new URLSearchParams({ token: typed }).toString(),
      });
    for (const wrong of ['', 'x', `${token} `, token.toUpperCase()]) {
      const { status, headers } = await login(wrong);
      expect([wrong, status, headers['set-cookie']]).toEqual([wrong, 401, undefined]);
    }
    const { status, headers } = await login(token);
    expect([status, headers['location']]).toEqual([303, './']);
    const [cookie] = headers['set-cookie'] as string[];
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    expect(cookie).not.toContain(token.slice(0, 7));
    const kept = { cookie: cookie!.split(';')[0]! };
    expect((await ask(`${open.url}api/overview`, { headers: kept })).status).toBe(200);
    expect((await order(open.url, kept)).status).toBe(200);
    expect((await order(open.url, { ...kept, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const out = await ask(`${open.url}logout`, { method: 'POST', headers: kept });
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0');
  });

  test('programs show the token in a header', async () => {
    await using open = await Dashboard.open(fleet, { port: 0, token });
    const statusOf = async (authorization: string): Promise<number> =>
      (await ask(`${open.url}api/overview`, { headers: { authorization } })).status;
    expect(await statusOf(`Bearer ${encodeURIComponent(token)}`)).toBe(401);
    expect(await statusOf(`Basic ${token}`)).toBe(401);
    expect(await statusOf('Bearer ')).toBe(401);
    expect(await statusOf(`Bearer ${token}`)).toBe(200);
  });

  test('no cell of a download is a formula', async () => {
    await using open = await Dashboard.open(fleet, { port: 0 });
    await fleet.add([{ spider: '=cmd|calc!A1' }, { spider: '@SUM(1)', args: { a: '-2+3' } }]);
    const { body, headers } = await ask(`${open.url}spiders.csv?state=pending`);
    expect(headers['content-disposition']).toBe('attachment; filename="spiders.csv"');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(body).toContain("\n'=cmd|calc!A1,'=cmd|calc!A1,pending,");
    expect(body).toContain(",'@SUM(1),pending,");
    expect(body).not.toMatch(/(^|,)[=@]/m);
  });
});

test('a session ends by itself, with another token, and cannot be made longer', () => {
  const access = new Access(token, []);
  const session = access.newSession(0);
  expect(access.isSession(session, sessionMs - 1)).toBe(true);
  expect(access.isSession(session, sessionMs)).toBe(false);
  expect(new Access(`${token}2`, []).isSession(session, 1)).toBe(false);
  const [end, mark] = session.split('.');
  expect(access.isSession(`${Number(end) + 1}.${mark}`, 1)).toBe(false);
  for (const text of ['', '.', `${end}`, `${end}.`, undefined])
    expect(access.isSession(text, 1)).toBe(false);
  expect(new Access(undefined, []).isSession(new Access('', []).newSession(0), 1)).toBe(false);
});

test('settings are read as the command line gives them', () => {
  const of = (values: Record<string, unknown>): unknown => dashboardOptions(new Settings(values));
  expect(of({})).toEqual({});
  expect(
    of({
      DASHBOARD_PORT: '7000',
      DASHBOARD_TOKEN: 1234,
      DASHBOARD_ALLOWED_HOSTS: 'a.example, b.example',
    }),
  ).toEqual({ port: 7000, token: '1234', allowedHosts: ['a.example', 'b.example'] });
  for (const port of ['', 'x', -1, 70_000, 1.5])
    expect(() => of({ DASHBOARD_PORT: port })).toThrow('DASHBOARD_PORT must be a port');
});
