import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { RedisScheduler } from '@lycosa/redis';
import { type Site, startSite } from '@lycosa/site';
import {
  type DupeFilter,
  type Fingerprinter,
  Request,
  RequestFingerprinter,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { hasRedis, startRedis } from '../redis-server.ts';
import { crawl } from './scrape.ts';

let folder: string;
let site: Site;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-prints-'));
  site = await startSite({
    '/': '<p>start',
    '*': ({ headers, url }) => `${url} in ${headers['accept-language'] ?? 'none'}`,
  });
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

class ByLanguage extends RequestFingerprinter {
  constructor() {
    super({ includeHeaders: ['accept-language'] });
  }
}

/** Knows pages by the number in their path. */
class ByNumber implements Fingerprinter {
  fingerprint(request: Request): string {
    return /\d+$/.exec(request.url)?.[0] ?? request.url;
  }
}

/** Asks for the pages one after the other, each a path and a language, and yields what came. */
function asking(pages: readonly (readonly [path: string, language?: string])[]): SpiderClass {
  return class Asking extends Spider {
    static override readonly name = 'asking';
    override readonly startUrls = [`${site.url}/`];
    override parse(): SpiderOutput {
      return pages.map(
        ([path, language], i) =>
          new Request(site.url + path, {
            headers: language === undefined ? {} : { 'Accept-Language': language },
            callback: this.parsePage,
            priority: -i,
          }),
      );
    }
    parsePage({ text, flags }: Response): SpiderOutput {
      return { text, cached: flags.includes('cached') };
    }
  };
}

const texts = (items: readonly unknown[]): string[] =>
  (items as { text: string }[]).map(({ text }) => text).toSorted();
const pages = [['/a', 'de'], ['/a', 'fr'], ['/a', 'de'], ['/b']] as const;
const known = ['/a in de', '/a in fr', '/b in en'];

async function run(more: SettingsInput, what: typeof pages | readonly [string][] = pages) {
  return crawl(asking(what), { CONCURRENT_REQUESTS: 1, ...more });
}

describe('REQUEST_FINGERPRINTER_CLASS says which requests are the same', () => {
  test('for the duplicate filter', async () => {
    expect(texts((await run({})).items)).toEqual(['/a in de', '/b in en']);
    const { items, result } = await run({ REQUEST_FINGERPRINTER_CLASS: ByLanguage });
    expect(texts(items)).toEqual(known);
    expect(result.stats['dupefilter/filtered']).toBe(1);
  });

  test('as a text, and where it gives text', async () => {
    const file = join(folder, 'by-number.mjs');
    writeFileSync(
      file,
      'export class ByNumber { fingerprint({ url }) { return /\\d+$/.exec(url)?.[0] ?? url; } }',
    );
    for (const REQUEST_FINGERPRINTER_CLASS of [ByNumber, `${file}#ByNumber`]) {
      const { items } = await run({ REQUEST_FINGERPRINTER_CLASS }, [['/x/1'], ['/y/1'], ['/x/2']]);
      expect(texts(items)).toEqual(['/x/1 in en', '/x/2 in en']);
    }
  });

  test('for a job, and still in its next run', async () => {
    const settings = { JOBDIR: join(folder, 'job'), REQUEST_FINGERPRINTER_CLASS: ByLanguage };
    expect(texts((await run(settings)).items)).toEqual(known);
    class Again extends Spider {
      static override readonly name = 'asking';
      override start(): SpiderOutput {
        return [new Request(`${site.url}/again`)];
      }
      override parse(): SpiderOutput {
        return ['de', 'it'].map(
          (language) =>
            new Request(`${site.url}/a`, {
              headers: { 'Accept-Language': language },
              callback: this.parsePage,
            }),
        );
      }
      parsePage({ text }: Response): SpiderOutput {
        return { text };
      }
    }
    expect(texts((await crawl(Again, settings)).items)).toEqual(['/a in it']);
  });

  test('for the HTTP cache', async () => {
    const settings = { HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: join(folder, 'cache') };
    const own = { ...settings, REQUEST_FINGERPRINTER_CLASS: ByLanguage };
    await run(own);
    const before = site.requests.length;
    const { items } = await run(own);
    expect(texts(items)).toEqual(known);
    expect(items).toMatchObject([{ cached: true }, { cached: true }, { cached: true }]);
    expect(site.requests).toHaveLength(before);
  });

  test.skipIf(!hasRedis)('for a frontier in Redis (skipped without redis-server)', async () => {
    await using redis = await startRedis();
    const { items } = await run({
      SCHEDULER: RedisScheduler,
      REDIS_URL: redis.url,
      REQUEST_FINGERPRINTER_CLASS: ByLanguage,
    });
    expect(texts(items)).toEqual(known);
  });

  test('one that gives nothing is an error that names it', async () => {
    class Empty implements Fingerprinter {
      fingerprint(): string {
        return '';
      }
    }
    const { log } = await run({ REQUEST_FINGERPRINTER_CLASS: Empty });
    expect(log.some(({ msg }) => msg.includes('Empty.fingerprint must return bytes or text'))).toBe(
      true,
    );
  });
});

describe('DUPEFILTER_CLASS with a job', () => {
  test('null lets every request pass', async () => {
    const { items } = await run({ JOBDIR: join(folder, 'job'), DUPEFILTER_CLASS: null });
    expect(items).toHaveLength(4);
  });

  test('a filter of one’s own is asked in place of the job, and opened and closed', async () => {
    const said: string[] = [];
    class Own implements DupeFilter {
      readonly size = 0;
      open(): void {
        said.push('open');
      }
      async requestSeen(request: Request): Promise<boolean> {
        await Promise.resolve();
        return request.url.endsWith('/b');
      }
      close(): void {
        said.push('close');
      }
    }
    const { items } = await run({ JOBDIR: join(folder, 'job'), DUPEFILTER_CLASS: Own });
    expect(texts(items)).toEqual(['/a in de', '/a in de', '/a in fr']);
    expect(said).toEqual(['open', 'close']);
  });
});
