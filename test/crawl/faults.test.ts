import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Site, startSite } from '@lycosa/site';
import {
  Crawler,
  createLogger,
  type CrawlResult,
  Request,
  type Response,
  Settings,
  type SettingsInput,
  type SignalMap,
  SlotRegistry,
  Spider,
  type SpiderOutput,
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
  /** `finished` by default. */
  readonly reason?: string;
  /** True by default: an error of one page or item is counted, and the crawl is not lost for it. */
  readonly ok?: boolean;
  readonly settings?: (fault: Fault) => SettingsInput;
  readonly spider?: (fault: Fault) => Partial<FaultSpider>;
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
  ...(
    [
      'crawl_started',
      'crawl_ended',
      'spider_opened',
      'engine_started',
      'scheduler_empty',
      'request_scheduled',
      'request_dropped',
      'request_reached_downloader',
      'headers_received',
      'bytes_received',
      'response_downloaded',
      'request_left_downloader',
      'response_received',
      'item_scraped',
      'robots_parsed',
      'spider_idle',
      'feed_slot_closed',
      'feed_exporter_closed',
      'engine_stopped',
    ] as const
  ).map((signal) => ({ name: `listener of ${signal}`, signal, waits: true })),
  { name: 'listener of spider_closed', signal: 'spider_closed', ok: false, waits: true },
  {
    name: 'listener of spider_error',
    signal: 'spider_error',
    spider: () => ({
      ignore() {
        throw new Error('another');
      },
    }),
  },
  {
    name: 'listener of item_error',
    signal: 'item_error',
    waits: true,
    settings: () =>
      pipeline({
        processItem: () => {
          throw new Error('another');
        },
      }),
  },
  {
    name: 'listener of crawl_failed',
    signal: 'crawl_failed',
    ...atStart,
    settings: () =>
      pipeline({
        openSpider: () => {
          throw new Error('another');
        },
      }),
  },
];

/** What a hook returns: now, or when its promise is kept. */
function then(waited: unknown, value: unknown): unknown {
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
  class OneSpider extends FaultSpider {
    constructor() {
      super();
      Object.assign(this, overrides);
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
        /^(ERROR|CRITICAL)$/i.test(line.level) && JSON.stringify(line).includes('the fault'),
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
    expect({ reason: result.reason, ok: result.ok }).toEqual({
      reason: one.reason ?? 'finished',
      ok: one.ok ?? true,
    });
    expect(errors.map((line) => line.msg)).toHaveLength(1);
    expect(held).toEqual([]);
    expect(crawler.engine?.scheduler.leased ?? 0).toBe(0);
    expect(crawler.engine?.inFlight ?? 0).toBe(0);
    expect(rejections).toEqual([]);
    expect(result.ok ? crawler.engine!.scheduler.pending : 0).toBe(0);
  });
});
