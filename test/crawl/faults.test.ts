import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Site, startSite } from '@lycosa/site';
import {
  Crawler,
  CrawlerProcess,
  createLogger,
  type CrawlResult,
  DropItem,
  type DupeFilter,
  type FeedStorage,
  type HttpCachePolicy,
  type HttpCacheStorage,
  type MaybePromise,
  Request,
  type Response,
  Settings,
  type SettingsInput,
  type SignalMap,
  SlotRegistry,
  Spider,
  type SpiderArgs,
  type SpiderOutput,
  StatsCollector,
} from 'lycosa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type LogLine, quick } from './scrape.ts';

let site: Site;
let folder: string;
const rejections: unknown[] = [];
const onRejection = (reason: unknown): void => void rejections.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  folder = mkdtempSync(join(tmpdir(), 'lycosa-faults-'));
  site = await startSite({
    '/': '<a href="/a">a</a><a href="/b">b</a><a href="/moved">m</a><a href="/">seen</a>',
    '/a': '<p>a</p>',
    '/b': '<p>b</p>',
    '/moved': { status: 302, headers: { location: '/c' } },
    '/c': '<p>c</p>',
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nAllow: /' },
  });
});
afterAll(async () => {
  process.off('unhandledRejection', onRejection);
  rmSync(folder, { recursive: true, force: true });
  await site[Symbol.asyncDispose]();
});

/** Throws the first time it is called. */
type Fault = () => void;

interface Case {
  readonly name: string;
  /** The one line that tells of it is a warning; it is an error by default. */
  readonly isWarning?: true;
  /** Reasons, with `|` between them; `finished` by default. */
  readonly reason?: string;
  /** True by default: an error of one page or item is counted, and the crawl is not lost for it. */
  readonly ok?: boolean;
  readonly settings?: (fault: Fault) => SettingsInput;
  readonly spider?: (fault: Fault) => Partial<FaultSpider>;
  readonly spiderClass?: (fault: Fault) => Partial<Record<'built' | 'made', Fault>>;
  readonly signal?: keyof SignalMap;
  /** The hook is awaited, so it fails once more as a promise. */
  readonly waits?: boolean;
}

class FaultSpider extends Spider {
  static override readonly name = 'fault';
  override *start(): SpiderOutput {
    yield new Request(`${site.url}/`);
    yield new Request('data:,plain', { callback: this.ignore });
    yield new Request(`${site.url}/missing`, { callback: this.ignore, errback: 'onError' });
    yield { from: 'start' };
  }
  override *parse(response: Response): SpiderOutput {
    yield { url: response.url };
    yield* response.followAll('a');
  }
  *ignore(): SpiderOutput {
    yield { from: 'ignore' };
  }
  *onError(): SpiderOutput {
    yield { from: 'errback' };
  }
}

const middleware = (hooks: object): SettingsInput => ({
  DOWNLOADER_MIDDLEWARES: [[component(hooks), 550]],
});
const spiderMiddleware = (hooks: object): SettingsInput => ({
  SPIDER_MIDDLEWARES: [[component(hooks), 550]],
});
const pipeline = (hooks: object): SettingsInput => ({
  ITEM_PIPELINES: [
    [component(hooks, { processItem: (item: unknown) => item }), 300],
    [component({ processItem: (item: unknown) => item }), 400],
  ],
});

/** A class whose instances have these hooks. */
function component(...hooks: object[]): new () => never {
  return class Faulty {
    constructor() {
      Object.assign(this, ...hooks.toReversed());
    }
  } as unknown as new () => never;
}

const built = (setting: string, fault: Fault): SettingsInput => ({
  [setting]: [
    [
      class Faulty {
        constructor() {
          fault();
        }
        processItem(item: unknown): unknown {
          return item;
        }
      },
      500,
    ],
  ],
});
const madeBy = (setting: string, fault: Fault): SettingsInput => ({
  [setting]: [
    [
      class Faulty {
        static fromCrawler(): never {
          fault();
          throw new Error('not reached');
        }
      },
      500,
    ],
  ],
});

const exporter = (hooks: Record<string, Fault>): SettingsInput => {
  class FaultyExporter {
    constructor() {
      hooks.new?.();
    }
    start(): string {
      hooks.start?.();
      return '';
    }
    item(item: unknown): string {
      hooks.item?.();
      return `${JSON.stringify(item)}\n`;
    }
    finish(): string {
      hooks.finish?.();
      return '';
    }
  }
  return {
    FEED_EXPORTERS: { faulty: FaultyExporter },
    FEEDS: {
      [join(folder, `${Math.random()}.faulty`)]: { format: 'faulty', overwrite: true },
      [join(folder, `${Math.random()}.jsonl`)]: { format: 'jsonlines', overwrite: true },
    },
  };
};

const handler = (hooks: { new?: Fault; download?: Fault; close?: Fault }): SettingsInput => ({
  DOWNLOAD_HANDLERS: {
    data: class FaultyHandler {
      constructor() {
        hooks.new?.();
      }
      download(): Promise<Response> {
        hooks.download?.();
        return Promise.reject(new Error('no data here'));
      }
      close(): void {
        hooks.close?.();
      }
    },
  },
});

const atStart = { reason: 'bootstrap_failed', ok: false } as const;
const componentSettings = [
  'DOWNLOADER_MIDDLEWARES',
  'SPIDER_MIDDLEWARES',
  'ITEM_PIPELINES',
  'EXTENSIONS',
];

const failing = (hook: 'openSpider' | 'processItem', error: Error): SettingsInput =>
  pipeline({
    [hook]: () => {
      throw error;
    },
  });

/** Every signal, so that a new one is missed here. */
const signals: Readonly<Record<keyof SignalMap, Partial<Case>>> = {
  crawl_started: {},
  crawl_failed: { ...atStart, settings: () => failing('openSpider', new Error('another')) },
  crawl_ended: {},
  spider_opened: {},
  engine_started: {},
  scheduler_empty: {},
  request_scheduled: {},
  request_dropped: {},
  request_reached_downloader: {},
  headers_received: {},
  bytes_received: {},
  response_downloaded: {},
  download_failed: {
    waits: false,
    settings: () => ({ ...handler({}), RETRY_ENABLED: false }),
  },
  request_left_downloader: {},
  response_received: {},
  item_scraped: {},
  item_dropped: { settings: () => failing('processItem', new DropItem('no')) },
  item_error: { settings: () => failing('processItem', new Error('another')) },
  spider_error: {
    waits: false,
    spider: () => ({
      ignore() {
        throw new Error('another');
      },
    }),
  },
  robots_parsed: {},
  slot_changed: {
    settings: () => ({ AUTOTHROTTLE_ENABLED: true, AUTOTHROTTLE_START_DELAY: 0.05 }),
  },
  memusage_warning_reached: {
    settings: () => ({ MEMUSAGE_ENABLED: true, MEMUSAGE_WARNING_MB: 1 }),
  },
  spider_idle: {},
  feed_slot_closed: {},
  spider_closed: { ok: false },
  feed_exporter_closed: {},
  engine_stopped: {},
};

const storage = (hook: string, fault: Fault): SettingsInput => {
  class FaultyStorage implements FeedStorage {
    readonly name = 'FaultyStorage';
    readonly location: string;
    constructor(uri: string) {
      this.location = uri;
    }
    open(): void {
      return hook === 'open' ? fault() : undefined;
    }
    write(): void {
      // What is left then is given up.
      if (hook === 'abandon') throw new Error('another');
      return hook === 'write' ? fault() : undefined;
    }
    async store(): Promise<void> {
      if (hook === 'store') await (fault() as unknown);
    }
    async abandon(): Promise<void> {
      if (hook === 'abandon') await (fault() as unknown);
    }
  }
  return {
    FEED_STORAGES: { faulty: FaultyStorage },
    FEEDS: { [`faulty://${Math.random()}`]: { format: 'jsonlines' } },
  };
};

const dupeFilter = (hook: string, fault: Fault): SettingsInput => ({
  DUPEFILTER_CLASS: class implements DupeFilter {
    readonly size = 0;
    #seen = new Set<string>();
    constructor() {
      if (hook === 'new') fault();
    }
    open(): void {
      return hook === 'open' ? fault() : undefined;
    }
    requestSeen({ url }: Request): MaybePromise<boolean> {
      const isSeen = this.#seen.has(url);
      this.#seen.add(url);
      return hook === 'requestSeen' ? then(fault(), isSeen) : isSeen;
    }
    close(): void {
      return hook === 'close' ? fault() : undefined;
    }
  },
});

const fingerprinter = (hooks: Record<string, Fault>): SettingsInput => ({
  REQUEST_FINGERPRINTER_CLASS: class {
    constructor() {
      hooks['new']?.();
    }
    fingerprint({ url }: Request): string {
      hooks['fingerprint']?.();
      return url;
    }
  },
});

const cacheStorage = (hook: string, fault: Fault): SettingsInput => ({
  HTTPCACHE_ENABLED: true,
  HTTPCACHE_STORAGE: class implements HttpCacheStorage {
    constructor() {
      if (hook === 'new') fault();
    }
    retrieve(): MaybePromise<undefined> {
      return then(hook === 'retrieve' ? fault() : undefined, undefined);
    }
    store(): void {
      return hook === 'store' ? fault() : undefined;
    }
    remove(): void {}
  },
});

const cachePolicy = (hook: string, fault: Fault): SettingsInput => ({
  HTTPCACHE_ENABLED: true,
  HTTPCACHE_DIR: join(folder, `cache-${Math.random()}`),
  HTTPCACHE_POLICY: class implements HttpCachePolicy {
    shouldCacheRequest(): boolean {
      if (hook === 'shouldCacheRequest') fault();
      return true;
    }
    shouldCacheResponse(): boolean {
      if (hook === 'shouldCacheResponse') fault();
      return true;
    }
    isCachedResponseFresh(): boolean {
      return true;
    }
    isCachedResponseValid(): boolean {
      return true;
    }
  },
});

const cases: Case[] = [
  ...componentSettings.map((setting) => ({
    name: `constructor in ${setting}`,
    ...atStart,
    settings: (fault: Fault) => built(setting, fault),
  })),
  ...componentSettings.map((setting) => ({
    name: `fromCrawler in ${setting}`,
    ...atStart,
    settings: (fault: Fault) => madeBy(setting, fault),
  })),
  {
    name: 'openSpider',
    ...atStart,
    waits: true,
    settings: (fault) => pipeline({ openSpider: fault }),
  },
  {
    name: 'closeSpider',
    ok: false,
    waits: true,
    settings: (fault) => pipeline({ closeSpider: fault }),
  },
  {
    name: 'processItem',
    waits: true,
    settings: (fault) => pipeline({ processItem: (item: unknown) => then(fault(), item) }),
  },
  {
    name: 'processRequest',
    waits: true,
    settings: (fault) => middleware({ processRequest: fault }),
  },
  {
    name: 'processResponse',
    waits: true,
    settings: (fault) =>
      middleware({
        processResponse: (_: Request, response: Response) => then(fault(), response),
      }),
  },
  {
    name: 'processException',
    waits: true,
    settings: (fault) => ({
      ...middleware({ processException: fault }),
      ...handler({}),
      RETRY_ENABLED: false,
    }),
  },
  {
    name: 'processSpiderInput',
    settings: (fault) => spiderMiddleware({ processSpiderInput: fault }),
  },
  {
    name: 'processSpiderOutput when it is called',
    settings: (fault) =>
      spiderMiddleware({
        processSpiderOutput: (_: Response, output: AsyncIterable<unknown>) => {
          fault();
          return output;
        },
      }),
  },
  {
    name: 'processSpiderOutput while it yields',
    settings: (fault) =>
      spiderMiddleware({
        processSpiderOutput: async function* wrapped(_: Response, output: AsyncIterable<unknown>) {
          for await (const element of output) {
            yield element;
            fault();
          }
        },
      }),
  },
  {
    name: 'processSpiderException',
    settings: (fault) =>
      spiderMiddleware({
        processSpiderException: fault,
        getProcessedItem: (item: unknown, response: Response | null) => {
          if (response?.url.endsWith('/a')) throw new Error('a first error');
          return item;
        },
      }),
  },
  {
    name: 'processStart when it is called',
    reason: 'start_error',
    ok: false,
    settings: (fault) =>
      spiderMiddleware({
        processStart: (start: AsyncIterable<unknown>) => {
          fault();
          return start;
        },
      }),
  },
  {
    name: 'processStart while it yields',
    reason: 'start_error',
    ok: false,
    settings: (fault) =>
      spiderMiddleware({
        processStart: async function* wrapped(start: AsyncIterable<unknown>) {
          for await (const element of start) {
            yield element;
            fault();
          }
        },
      }),
  },
  {
    name: 'getProcessedRequest of a callback',
    settings: (fault) =>
      spiderMiddleware({
        getProcessedRequest: (request: Request, response: Response | null) => {
          if (response) fault();
          return request;
        },
      }),
  },
  {
    name: 'getProcessedItem of start()',
    reason: 'start_error',
    ok: false,
    settings: (fault) =>
      spiderMiddleware({
        getProcessedItem: (item: unknown, response: Response | null) => {
          if (!response) fault();
          return item;
        },
      }),
  },
  {
    name: 'download handler, its constructor',
    settings: (fault) => ({ ...handler({ new: fault, download: fault }), RETRY_ENABLED: false }),
  },
  {
    name: 'download handler, download()',
    settings: (fault) => ({ ...handler({ download: fault }), RETRY_ENABLED: false }),
  },
  { name: 'download handler, close()', ok: false, settings: (fault) => handler({ close: fault }) },
  {
    name: 'exporter, its constructor',
    reason: 'feed_error',
    ok: false,
    settings: (fault) => exporter({ new: fault }),
  },
  {
    name: 'exporter, start()',
    reason: 'feed_error',
    ok: false,
    settings: (fault) => exporter({ start: fault }),
  },
  { name: 'exporter, item()', settings: (fault) => exporter({ item: fault }) },
  { name: 'exporter, finish()', ok: false, settings: (fault) => exporter({ finish: fault }) },
  {
    name: 'start() when it is called',
    reason: 'start_error',
    ok: false,
    spider: (fault) => ({
      start: () => {
        fault();
        return [];
      },
    }),
  },
  {
    name: 'start() while it yields',
    reason: 'start_error',
    ok: false,
    spider: (fault) => ({
      *start() {
        yield new Request(`${site.url}/`);
        fault();
      },
    }),
  },
  {
    name: 'callback',
    waits: true,
    spider: (fault) => ({ parse: (() => fault()) as FaultSpider['parse'] }),
  },
  {
    name: 'callback while it yields',
    spider: (fault) => ({
      *parse(response: Response) {
        yield { url: response.url };
        yield* response.followAll('a');
        fault();
      },
    }),
  },
  {
    name: 'errback',
    waits: true,
    spider: (fault) => ({ onError: fault as unknown as FaultSpider['onError'] }),
  },
  { name: 'closed()', ok: false, waits: true, spider: (fault) => ({ closed: fault }) },
  { name: 'constructor of the spider', ...atStart, spiderClass: (fault) => ({ built: fault }) },
  { name: 'fromCrawler of the spider', ...atStart, spiderClass: (fault) => ({ made: fault }) },
  ...(['open', 'write', 'store', 'abandon'] as const).map((hook) => ({
    name: `feed storage, ${hook}()`,
    ok: false,
    ...(hook === 'open' && { reason: 'feed_error' }),
    // A job is stopped for it, if it has not ended by then.
    ...((hook === 'write' || hook === 'abandon') && { reason: 'finished|feed_error' }),
    waits: true,
    settings: (fault: Fault) => storage(hook, fault),
  })),
  ...(['itemFilter', 'uriParams'] as const).map((hook) => ({
    name: `${hook} of a feed`,
    ...(hook === 'uriParams' && { ok: false, reason: 'feed_error' }),
    settings: (fault: Fault): SettingsInput => ({
      FEEDS: {
        [join(folder, `%(name)s-${Math.random()}.jsonl`)]: {
          overwrite: true,
          [hook]: (value: object) => {
            fault();
            return hook === 'uriParams' ? value : true;
          },
        },
      },
    }),
  })),
  ...(['new', 'open'] as const).map((hook) => ({
    name: `duplicate filter, ${hook}`,
    ...atStart,
    ...(hook === 'open' && { waits: true }),
    settings: (fault: Fault) => dupeFilter(hook, fault),
  })),
  {
    name: 'duplicate filter, requestSeen()',
    reason: 'start_error',
    ok: false,
    waits: true,
    settings: (fault) => dupeFilter('requestSeen', fault),
  },
  {
    name: 'duplicate filter, close()',
    ok: false,
    waits: true,
    settings: (fault) => dupeFilter('close', fault),
  },
  {
    name: 'fingerprinter, its constructor',
    ...atStart,
    settings: (fault) => fingerprinter({ new: fault }),
  },
  {
    name: 'fingerprinter, fingerprint()',
    reason: 'start_error',
    ok: false,
    settings: (fault) => fingerprinter({ fingerprint: fault }),
  },
  ...(['new', 'retrieve', 'store'] as const).map((hook) => ({
    name: `HTTP cache storage, ${hook}`,
    // A page without a cache is still a page.
    ...(hook === 'new' ? atStart : { waits: true, isWarning: true as const }),
    settings: (fault: Fault) => cacheStorage(hook, fault),
  })),
  ...(['shouldCacheRequest', 'shouldCacheResponse'] as const).map((hook) => ({
    name: `HTTP cache policy, ${hook}()`,
    settings: (fault: Fault) => cachePolicy(hook, fault),
  })),
  {
    name: 'STATS_CLASS, its constructor',
    ...atStart,
    settings: (fault) => ({
      STATS_CLASS: class extends StatsCollector {
        constructor() {
          super();
          fault();
        }
      },
    }),
  },
  ...Object.entries(signals).map(([signal, more]) => ({
    name: `listener of ${signal}`,
    signal: signal as keyof SignalMap,
    waits: true,
    ...more,
  })),
];

/** What a hook returns: now, or when its promise is kept. */
function then<T>(waited: unknown, value: T): MaybePromise<T> {
  return waited instanceof Promise ? waited.then(() => value) : value;
}

interface Run {
  readonly result: CrawlResult;
  readonly errors: LogLine[];
  readonly crawler: Crawler;
  readonly held: unknown[];
}

async function run(one: Case, kind: string, jobdir: string | undefined): Promise<Run> {
  let hasThrown = false;
  const fault = ((): unknown => {
    if (hasThrown) return undefined;
    hasThrown = true;
    const error = new Error('the fault');
    if (kind === 'rejects') return Promise.reject(error);
    throw error;
  }) as Fault;
  const overrides = one.spider?.(fault) ?? {};
  const ofClass = one.spiderClass?.(fault);
  class OneSpider extends FaultSpider {
    static override fromCrawler(crawler: Crawler, args: SpiderArgs): never {
      ofClass?.made?.();
      return super.fromCrawler(crawler, args) as never;
    }
    constructor() {
      super();
      Object.assign(this, overrides);
      ofClass?.built?.();
    }
  }
  const log: LogLine[] = [];
  const settings = new Settings({
    ...quick,
    ROBOTSTXT_OBEY: true,
    FEEDS: { [join(folder, `${Math.random()}.jsonl`)]: { format: 'jsonlines', overwrite: true } },
    ...one.settings?.(fault),
    ...(jobdir && { JOBDIR: jobdir }),
  });
  const logger = createLogger({
    level: 'DEBUG',
    format: 'json',
    destination: { write: (line: string) => void log.push(JSON.parse(line) as LogLine) },
  });
  const slots = new SlotRegistry();
  const crawler = new Crawler(OneSpider, settings, { log: logger, slots });
  if (one.signal) crawler.signals.connect(one.signal, fault);
  const result = await crawler.crawl();
  const held = [...slots.values()]
    .map(({ key, transferring, reserved, queued }) => ({ key, transferring, reserved, queued }))
    .filter(({ transferring, reserved, queued }) => transferring + reserved + queued > 0);
  return {
    result,
    errors: log.filter(
      (line) =>
        (one.isWarning ? /^(WARNING|ERROR|CRITICAL)$/ : /^(ERROR|CRITICAL)$/).test(
          line.level.toUpperCase(),
        ) && JSON.stringify(line).includes('the fault'),
    ),
    crawler,
    held,
  };
}

describe.each(['in memory', 'in a job'])('%s, where it throws once:', (where) => {
  const variants = cases.flatMap((one) =>
    (one.waits ? ['throws', 'rejects'] : ['throws']).map(
      (kind) => [`${one.name} ${kind}`, one, kind] as const,
    ),
  );
  test.each(variants)('%s', async (_, one, kind) => {
    const jobdir = where === 'in a job' ? join(folder, `job-${Math.random()}`) : undefined;
    rejections.length = 0;
    const { result, errors, crawler, held } = await run(one, kind, jobdir);
    await new Promise((resolve) => setImmediate(resolve));
    expect(result.ok).toBe(one.ok ?? true);
    expect(result.reason).toMatch(new RegExp(`^(?:${one.reason ?? 'finished'})$`));
    expect(errors.map((line) => line.msg)).toHaveLength(1);
    expect(held).toEqual([]);
    expect(crawler.engine?.scheduler.leased ?? 0).toBe(0);
    expect(crawler.engine?.inFlight ?? 0).toBe(0);
    expect(rejections).toEqual([]);
    expect(result.ok ? crawler.engine!.scheduler.pending : 0).toBe(0);
  });
});

test('updateSettings() of a spider that throws ends that crawl alone, with a result', async () => {
  class BadSpider extends FaultSpider {
    static override updateSettings(): void {
      throw new Error('the fault');
    }
  }
  await using crawls = new CrawlerProcess({ settings: { ...quick, LOG_LEVEL: 'CRITICAL' } });
  const ends = [crawls.crawl(BadSpider), crawls.crawl(FaultSpider)];
  await crawls.start();
  expect(await Promise.all(ends)).toMatchObject([
    { reason: 'bootstrap_failed', ok: false, error: { message: 'the fault' } },
    { reason: 'finished', ok: true },
  ]);
});
