import { startSite } from '@lycosa/site';
import {
  CloseSpider,
  type Crawler,
  DontCloseSpider,
  DropItem,
  type Failure,
  type ItemPipeline,
  Request,
  type Response,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { expect, test } from 'vitest';

import { crawl, pageSpider } from './scrape.ts';

const links = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<a href="/p/${i}">${i}</a>`).join('');

/** Follows all links of a site and yields each page. */
function linkSpider(url: string): SpiderClass {
  return class LinkSpider extends Spider {
    static override readonly name = 'links';
    override readonly startUrls = [`${url}/`];
    override *parse(response: Response): SpiderOutput {
      yield { url: response.url.replace(url, '') };
      yield* response.followAll('a');
    }
  };
}

test('a spider visits every linked page once, and the account balances', async () => {
  await using site = await startSite({ '/': links(30), '*': links(30) });
  const { items, result } = await crawl(linkSpider(site.url));
  expect(items).toHaveLength(31);
  expect(new Set(items.map((item) => (item as { url: string }).url)).size).toBe(31);
  expect(site.requests).toHaveLength(31);
  expect(result).toMatchObject({ reason: 'finished', ok: true });
  expect(result.stats).toMatchObject({
    finish_reason: 'finished',
    item_scraped_count: 31,
    response_received_count: 31,
    'downloader/request_count': 31,
    'downloader/response_status_count/200': 31,
    'scheduler/enqueued': 31,
    'scheduler/dequeued': 31,
    'account/scheduled': 1 + 31 * 30,
    'account/done': 31,
    'account/dropped': 31 * 30 - 30,
    'account/left': 0,
    'request_dropped_count/duplicate': 31 * 30 - 30,
  });
});

test('pages do not pile up before a busy spider', async () => {
  await using site = await startSite({ '/': links(300), '*': 'page' });
  let received = 0;
  let most = 0;
  class Busy extends Spider {
    static override readonly name = 'busy';
    override readonly startUrls = [`${site.url}/`];
    override *parse(response: Response): SpiderOutput {
      this.crawler.signals.connect('response_received', () => void received++);
      yield* response.followAll('a', { callback: this.parsePage });
    }
    parsePage(): void {
      most = Math.max(most, received--);
      const end = performance.now() + 3;
      while (performance.now() < end);
    }
  }
  const { result } = await crawl(Busy, {
    CONCURRENT_REQUESTS: 8,
    CONCURRENT_REQUESTS_PER_DOMAIN: 8,
  });
  expect(result.stats.response_received_count).toBe(301);
  // 16 wait for the spider at most, and what was on its way by then.
  expect(most).toBeLessThanOrEqual(16 + 8);
});

test('callbacks get their cbKwargs, errbacks their failure with its request', async () => {
  await using site = await startSite({ '/': 'home', '/a': 'page a', '/missing': { status: 404 } });
  class Kwargs extends Spider {
    static override readonly name = 'kwargs';
    override readonly startUrls = [`${site.url}/`];
    override *parse(response: Response): SpiderOutput {
      yield response.follow('/a', {
        callback: this.parseA,
        cbKwargs: { n: 7 },
        meta: { own: 'x' },
      });
      yield response.follow('/missing', { callback: this.parseA, errback: this.failed });
    }
    parseA(response: Response, { n }: { n: number }): SpiderOutput {
      return [{ n, own: response.meta.own }];
    }
    async failed(failure: Failure): Promise<object[]> {
      await Promise.resolve();
      return [{ status: failure.response?.status, url: failure.request.url.replace(site.url, '') }];
    }
  }
  const { items } = await crawl(Kwargs);
  expect(items).toEqual(
    expect.arrayContaining([
      { n: 7, own: 'x' },
      { status: 404, url: '/missing' },
    ]),
  );
  expect(items).toHaveLength(2);
});

test('a callback that throws is one error in log, stats and signals; the other pages go on', async () => {
  await using site = await startSite({ '/': links(3), '*': 'x' });
  class Throws extends Spider {
    static override readonly name = 'throws';
    override readonly startUrls = [`${site.url}/`];
    override *parse(response: Response): SpiderOutput {
      yield* response.followAll('a', { callback: this.parsePage });
    }
    *parsePage(response: Response): SpiderOutput {
      yield { url: response.url };
      if (response.url.endsWith('/p/1')) throw new TypeError('no price');
    }
  }
  const { items, result, log } = await crawl(Throws);
  expect(items).toHaveLength(3);
  expect(result).toMatchObject({ reason: 'finished', ok: true });
  expect(result.stats).toMatchObject({
    'spider_exceptions/count': 1,
    'spider_exceptions/TypeError': 1,
    'account/failed': 1,
  });
  expect(log.filter((line) => line.level === 'ERROR')).toHaveLength(1);
});

test('a crawl in which every request fails is not ok', async () => {
  await using site = await startSite({});
  const { result } = await crawl(pageSpider([`${site.url}/none`], () => undefined));
  expect(result.stats['httperror/response_ignored_count']).toBe(1);
  const closed = await crawl(
    class Refused extends Spider {
      static override readonly name = 'refused';
      override readonly startUrls = ['http://127.0.0.1:1/'];
    },
    { RETRY_TIMES: 0 },
  );
  expect(closed.result).toMatchObject({ reason: 'finished', ok: false });
  expect(closed.result.error?.message).toContain('All 1 requests failed');
});

test('a start URL without a scheme ends with start_error and a message that says what to write', async () => {
  const { result, log } = await crawl(
    class NoScheme extends Spider {
      static override readonly name = 'noscheme';
      override readonly startUrls = ['example.com/page'];
    },
  );
  expect(result).toMatchObject({ reason: 'start_error', ok: false });
  expect(
    log
      .filter((line) => line.level === 'ERROR')
      .map((line) => line.msg)
      .join(),
  ).toContain('https://example.com/page');
});

test('a function that is not a method of the spider is refused as a callback', async () => {
  await using site = await startSite({ '/': 'x' });
  const { result } = await crawl(
    pageSpider([`${site.url}/`], (response) => response.follow('/b', { callback: () => null })),
  );
  expect(result.stats['spider_exceptions/UsageError']).toBe(1);
});

test('meta that no queue on disk could hold is refused', async () => {
  await using site = await startSite({ '/': 'x' });
  const { log } = await crawl(
    pageSpider([`${site.url}/`], (response) =>
      response.follow('/b', { meta: { when: new Date() as never } }),
    ),
  );
  expect(log.some((line) => line.msg.includes('meta.when'))).toBe(true);
});

test('pipelines see items in order, drop and change them, and close in reverse', async () => {
  await using site = await startSite({ '/': 'x' });
  const calls: string[] = [];
  const pipeline = (name: string, process: ItemPipeline['processItem']): new () => ItemPipeline =>
    class implements ItemPipeline {
      openSpider(): void {
        calls.push(`open ${name}`);
      }
      closeSpider(): void {
        calls.push(`close ${name}`);
      }
      processItem = process;
    };
  const { items, result } = await crawl(
    pageSpider([`${site.url}/`], () => [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]),
    {
      ITEM_PIPELINES: [
        [
          pipeline('b', async (item) => {
            await Promise.resolve();
            return { ...(item as object), b: true };
          }),
          200,
        ],
        [
          pipeline('a', (item) => {
            const { n } = item as { n: number };
            if (n === 2) throw new DropItem('two');
            if (n === 3) throw new RangeError('three');
            return n === 4 ? undefined : item;
          }),
          100,
        ],
      ],
    },
  );
  expect(items).toEqual([{ n: 1, b: true }]);
  expect(calls).toEqual(['open a', 'open b', 'close b', 'close a']);
  expect(result.stats).toMatchObject({
    item_scraped_count: 1,
    item_dropped_count: 1,
    item_error_count: 2,
  });
});

test('a pipeline that throws at open ends the crawl before the first request', async () => {
  await using site = await startSite({ '/': 'x' });
  let closed = 0;
  class Good {
    closeSpider(): void {
      closed++;
    }
    processItem(item: unknown): unknown {
      return item;
    }
  }
  class Bad {
    openSpider(): void {
      throw new Error('no database');
    }
    processItem(item: unknown): unknown {
      return item;
    }
  }
  const { result, log } = await crawl(pageSpider([`${site.url}/`]), {
    ITEM_PIPELINES: [
      [Good, 1],
      [Bad, 2],
    ],
  });
  expect(result).toMatchObject({ reason: 'bootstrap_failed', ok: false });
  expect(result.error?.message).toBe('no database');
  expect(site.requests).toHaveLength(0);
  expect(closed).toBe(1);
  expect(log.filter((line) => line.level === 'ERROR')).toHaveLength(1);
});

test('signals of a crawl come in their order', async () => {
  await using site = await startSite({
    '/': 'x',
    '/to': { status: 302, headers: { location: '/' } },
  });
  const seen: string[] = [];
  class Listens extends Spider {
    static override readonly name = 'listens';
    override readonly startUrls = [`${site.url}/to`];
    static override fromCrawler(crawler: Crawler, args: Record<string, string>): never {
      const spider = new this(args);
      for (const name of [
        'spider_opened',
        'engine_started',
        'request_scheduled',
        'request_reached_downloader',
        'headers_received',
        'bytes_received',
        'response_downloaded',
        'request_left_downloader',
        'response_received',
        'item_scraped',
        'spider_idle',
        'spider_closed',
        'engine_stopped',
      ] as const) {
        crawler.signals.connect(name, () => void seen.push(name));
      }
      return spider as never;
    }
    override parse(): SpiderOutput {
      return { a: 1 };
    }
    override closed(): void {
      seen.push('closed()');
    }
  }
  await crawl(Listens);
  expect(seen).toEqual([
    'spider_opened',
    'engine_started',
    'request_scheduled',
    'request_reached_downloader',
    'headers_received',
    'response_downloaded',
    'request_left_downloader',
    'request_scheduled',
    'request_reached_downloader',
    'headers_received',
    'bytes_received',
    'response_downloaded',
    'request_left_downloader',
    'response_received',
    'item_scraped',
    'spider_idle',
    'spider_closed',
    'closed()',
    'engine_stopped',
  ]);
});

test('an idle spider that wants to stay open is kept open and may be given more', async () => {
  await using site = await startSite({ '/': 'x', '/more': 'more' });
  let asked = 0;
  class Stays extends Spider {
    static override readonly name = 'stays';
    override readonly startUrls = [`${site.url}/`];
    override parse(response: Response): SpiderOutput {
      return { url: response.url };
    }
    static override fromCrawler(crawler: Crawler, args: Record<string, string>): never {
      const spider = new this(args);
      crawler.signals.connect('spider_idle', () => {
        if (++asked > 1) return;
        setTimeout(() => void crawler.engine!.schedule(new Request(`${site.url}/more`)), 20);
        throw new DontCloseSpider();
      });
      return spider as never;
    }
  }
  const { items } = await crawl(Stays);
  expect(items).toHaveLength(2);
  expect(asked).toBe(2);
});

test('CloseSpider in a callback closes with its reason', async () => {
  await using site = await startSite({ '/': 'x' });
  const { result } = await crawl(
    pageSpider([`${site.url}/`], () => {
      throw new CloseSpider('enough');
    }),
  );
  expect(result).toMatchObject({ reason: 'enough', ok: true });
});

test.each([
  ['CLOSESPIDER_ITEMCOUNT', 7, 'closespider_itemcount', 'item_scraped_count'],
  ['CLOSESPIDER_PAGECOUNT', 5, 'closespider_pagecount', 'response_received_count'],
] as const)('%s is exact', async (setting, limit, reason, stat) => {
  await using site = await startSite({ '/': links(40), '*': links(40) });
  class Slow {
    async processItem(item: unknown): Promise<unknown> {
      await new Promise((resolve) => setTimeout(resolve, 2));
      return item;
    }
  }
  const { result } = await crawl(linkSpider(site.url), {
    [setting]: limit,
    ITEM_PIPELINES: [[Slow, 1]],
  });
  expect(result).toMatchObject({ reason, ok: true });
  expect(result.stats[stat]).toBe(limit);
});

test('a retry comes back to its callback, and the last error response reaches the spider', async () => {
  let tries = 0;
  await using site = await startSite({
    '/flaky': () => (++tries < 3 ? { status: 503 } : 'fine'),
    '/down': { status: 500 },
  });
  const { items, result } = await crawl(pageSpider([`${site.url}/flaky`, `${site.url}/down`]), {
    HTTPERROR_ALLOW_ALL: true,
  });
  expect(items).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ text: 'fine' }),
      expect.objectContaining({ status: 500 }),
    ]),
  );
  expect(site.hits('/down')).toBe(3);
  expect(result.stats).toMatchObject({ 'retry/count': 4, 'retry/max_reached': 1 });
});

test('a page that redirects to itself until a cookie is set arrives once (two requests on the wire)', async () => {
  await using site = await startSite({
    '/p': (request) =>
      request.headers.cookie === 'k=1'
        ? 'in'
        : { status: 302, headers: { location: '/p', 'set-cookie': 'k=1' } },
  });
  const { items } = await crawl(pageSpider([`${site.url}/p`]));
  expect(items).toEqual([{ url: `${site.url}/p`, status: 200, text: 'in' }]);
  expect(site.hits('/p')).toBe(2);
});

test('twenty requests with a delay leave one by one, and hold no place meanwhile', async () => {
  await using slow = await startSite({ '*': 'slow' });
  await using free = await startSite({ '*': 'free' });
  const urls = [
    ...Array.from({ length: 8 }, (_, i) => `${slow.url.replace('127.0.0.1', 'localhost')}/${i}`),
    ...Array.from({ length: 8 }, (_, i) => `${free.url}/${i}`),
  ];
  const { result } = await crawl(pageSpider(urls), {
    CONCURRENT_REQUESTS: 2,
    DOWNLOAD_SLOTS: { localhost: { delay: 0.05, randomizeDelay: false } },
  });
  expect(result.stats.response_received_count).toBe(16);
  const times = slow.requests.map((request) => request.time);
  // Each gap is proved under the fake clock; what arrives here may have been kept by a busy machine.
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(7 * 50 - 100);
  expect(Math.max(...free.requests.map((request) => request.time))).toBeLessThan(times.at(-1)!);
});
