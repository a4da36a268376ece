import { stripVTControlCharacters } from 'node:util';

import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { CsvExporter, UsageError } from 'lycosa';

import type { Fleet } from '../fleet.ts';
import { type Access, sessionMs } from './access.ts';
import type { Asset } from './assets.ts';
import { FleetOrders } from './orders.ts';
import type { Log, Row, Slots, SortKey, SpiderPage, State } from './page/api.ts';
import { find, pageOf, type RowQuery, rowOf, runOf } from './rows.ts';
import type { FleetView } from './view.ts';

const cookie = 'lycosa-dashboard';
const maxRows = 500;
/** A line of a log may be as long as a page was; nobody reads that much of it. */
const maxLine = 4000;
const states = ['pending', 'running', 'finished', 'failed'];
const sortKeys = [
  'name',
  'state',
  'changedAt',
  'seconds',
  'items',
  'responses',
  'rate',
  'machine',
  'why',
];
/** Without a login, as its page needs them. */
const open = new Set(['/login', '/style.css', '/favicon.svg']);

export interface AppParts {
  readonly fleet: Fleet;
  readonly view: FleetView;
  readonly access: Access;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly log: { warn(message: string): void; info(message: string): void };
}

/** What the dashboard answers. */
export function dashboardApp(parts: AppParts): Hono {
  const app = new Hono();
  guard(app, parts);
  login(app, parts);
  read(app, parts);
  change(app, parts);
  app.get('/:file?', (c) => asset(c, parts.assets.get(c.req.param('file') ?? 'index.html')));
  app.notFound((c) => c.json({ error: 'There is no such page.' }, 404));
  app.onError((error, c) => {
    if (error instanceof UsageError || error instanceof SyntaxError) {
      return c.json({ error: error.message }, 400);
    }
    return c.json({ error: error.message }, 503);
  });
  return app;
}

function guard(app: Hono, { access }: AppParts): void {
  app.use(
    secureHeaders({
      // Nothing from elsewhere, nothing inline, and no way for text to become a script.
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
      },
      xFrameOptions: 'DENY',
      // Whether it is reached by TLS is the proxy's to say.
      strictTransportSecurity: false,
    }),
  );
  app.use(async (c, next) => {
    if (!access.answersTo(c.req.header('host'))) {
      return c.text(
        'The dashboard does not answer to this name. Add it to DASHBOARD_ALLOWED_HOSTS, or ask by address.\n',
        421,
      );
    }
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
    const isData = c.req.path.startsWith('/api/') || c.req.path.endsWith('.csv');
    if ((!isRead || isData) && !access.isOwn(c.req.raw.headers)) {
      return c.json({ error: 'This request came from a page of another site.' }, 403);
    }
    if (access.hasToken && !open.has(c.req.path) && !isKnown(c, access)) {
      if (isData || !isRead) return c.json({ error: 'Log in first.' }, 401);
      return c.redirect('login');
    }
    return next();
  });
  const onError = (c: Context): Response => c.json({ error: 'That is too much at once.' }, 413);
  app.use(bodyLimit({ maxSize: 4 << 20, onError }));
}

function isKnown(c: Context, access: Access): boolean {
  const token = /^bearer (.*)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  return token === undefined ? access.isSession(getCookie(c, cookie)) : access.isToken(token);
}

function login(app: Hono, { access, assets, log }: AppParts): void {
  const page = (c: Context, status: 200 | 401): Response => {
    const html = assets.get('login.html')!.body;
    return c.html(status === 401 ? html.replace(' hidden', '') : html, status, {
      'cache-control': 'no-store',
    });
  };
  app.get('/login', (c) => (access.hasToken ? page(c, 200) : c.redirect('./')));
  app.post('/login', async (c) => {
    const { token } = await c.req.parseBody();
    if (!access.isToken(token)) {
      log.warn('Somebody tried to log in with a wrong token');
      return page(c, 401);
    }
    setCookie(c, cookie, access.newSession(), {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: sessionMs / 1000,
      secure: c.req.header('x-forwarded-proto') === 'https',
    });
    return c.redirect('./', 303);
  });
  app.post('/logout', (c) => {
    deleteCookie(c, cookie, { path: '/' });
    return c.redirect('login', 303);
  });
}

function read(app: Hono, { fleet, view, access }: AppParts): void {
  app.use('/api/*', async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/api/overview', async (c) => c.json(await view.overview(access.hasToken)));
  app.get('/api/spiders', async (c) => {
    const { rows } = await view.snapshot();
    return c.json(
      pageOf(
        find(rows, queryOf(c)),
        numberOf(c, 'offset', 0),
        Math.min(numberOf(c, 'limit', 100), maxRows),
      ),
    );
  });
  app.get('/api/names', async (c) => {
    const { rows } = await view.snapshot();
    return c.json(find(rows, queryOf(c)).map(({ name, state }) => ({ name, state })));
  });
  app.get('/api/spider', async (c) => {
    const job = await view.ask(fleet.show(nameOf(c)));
    if (!job) return c.json({ error: 'Nothing of that name was ordered.' }, 404);
    const page: SpiderPage = { row: rowOf(job, view.stopping), runs: job.runs.map(runOf) };
    return c.json(page);
  });
  app.get('/api/log', async (c) => {
    const attempt = c.req.query('attempt') === undefined ? undefined : numberOf(c, 'attempt', 0);
    const tail = Math.min(Math.max(1, numberOf(c, 'tail', 500)), 5000);
    const found = await view.ask(
      fleet.logs(nameOf(c), { tail, ...(attempt !== undefined && { attempt }) }),
    );
    const log: Log = { attempt: found.attempt, lines: found.lines.map(lineOf) };
    return c.json(log);
  });
  app.get('/api/slots', async (c) => {
    const search = c.req.query('search')?.trim().toLowerCase() ?? '';
    const { slots } = await view.snapshot();
    const found = slots.filter((slot) =>
      `${slot.key}\n${slot.machine}\n${slot.spider ?? ''}`.toLowerCase().includes(search),
    );
    const busiest = found.toSorted(
      (a, b) =>
        b.backoff - a.backoff ||
        b.queued + b.transferring - a.queued - a.transferring ||
        b.delay - a.delay,
    );
    const page: Slots = { total: found.length, slots: busiest.slice(0, numberOf(c, 'limit', 12)) };
    return c.json(page);
  });
  app.get('/spiders.csv', async (c) => {
    const { rows } = await view.snapshot();
    return c.body(csvOf(find(rows, queryOf(c))), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="spiders.csv"',
      'cache-control': 'no-store',
    });
  });
}

function change(app: Hono, { fleet, view, log }: AppParts): void {
  const orders = new FleetOrders(fleet, view);
  // What a form of another site can send is not JSON.
  app.use('/api/*', async (c, next) => {
    const type = c.req.header('content-type') ?? '';
    if (c.req.method !== 'POST' || /^application\/json\b/i.test(type)) return next();
    return c.json({ error: 'Orders are JSON: content-type: application/json.' }, 415);
  });
  app.post('/api/stop', async (c) => {
    const outcome = await orders.stop(await c.req.json());
    log.info(`${outcome.done} spiders were stopped from the dashboard`);
    return c.json(outcome);
  });
  app.post('/api/requeue', async (c) => {
    const outcome = await orders.requeue(await c.req.json());
    log.info(`${outcome.done} spiders were ordered again from the dashboard`);
    return c.json(outcome);
  });
  app.post('/api/drain', async (c) => {
    await orders.drain();
    log.info('The fleet was drained from the dashboard');
    return c.json({});
  });
  app.post('/api/resume', async (c) => {
    await orders.resume();
    log.info('A drain was ended from the dashboard');
    return c.json({});
  });
}

function asset(c: Context, found: Asset | undefined): Response | Promise<Response> {
  if (!found) return c.notFound();
  const headers = { 'content-type': found.type, etag: found.etag, 'cache-control': 'no-cache' };
  return c.req.header('if-none-match') === found.etag
    ? c.body(null, 304, headers)
    : c.body(found.body, 200, headers);
}

/** @throws UsageError for what cannot be asked. */
function queryOf(c: Context): RowQuery {
  const { state, search, machine, why, sort = '' } = c.req.query();
  const key = sort.replace(/^-/, '');
  if (state !== undefined && !states.includes(state))
    throw new UsageError('There is no such state.');
  if (sort !== '' && !sortKeys.includes(key)) throw new UsageError('There is no such column.');
  return {
    ...(state !== undefined && { state: state as State }),
    ...(search !== undefined && { search }),
    ...(machine !== undefined && { machine }),
    ...(why !== undefined && { why }),
    ...(sort !== '' && { sort: key as SortKey, isDescending: sort.startsWith('-') }),
  };
}

function nameOf(c: Context): string {
  const name = c.req.query('name');
  if (name) return name;
  throw new UsageError('Which spider? The name is missing.');
}

function numberOf(c: Context, name: string, absent: number): number {
  const number = Number(c.req.query(name) ?? absent);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new UsageError(`${name} must be a whole number.`);
}

function lineOf(line: string): string {
  const rest = line.length - maxLine;
  const shown = stripVTControlCharacters(line.slice(0, maxLine));
  return rest > 0 ? `${shown} … ${rest} more characters` : shown;
}

const columns = [
  'name',
  'spider',
  'state',
  'machine',
  'attempts',
  'changedAt',
  'startedAt',
  'seconds',
  'items',
  'responses',
  'reason',
  'error',
] as const;

/** Somebody opens it in a spreadsheet: no cell may be a formula. */
function csvOf(rows: readonly Row[]): string {
  const exporter = new CsvExporter({ fields: columns, escapeFormulas: true });
  const head = exporter.start();
  const times = (row: Row): object => ({
    changedAt: new Date(row.changedAt).toISOString(),
    startedAt: row.startedAt && new Date(row.startedAt).toISOString(),
  });
  const records = rows.map((row) => exporter.item({ ...row, ...times(row) }));
  return [head, ...records, exporter.finish()].join('');
}
