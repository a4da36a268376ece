import type { CrawlerProcess, CrawlResult } from 'lycosa';

import { recordOf, verdictOf } from './reasons.ts';
import type { Claim, SpiderSets } from './spider-sets.ts';

export interface CrawlPendingOptions {
  /** Spiders at once; 20 by default. The limits of the sets hold as well. */
  readonly count?: number;
  /** No further spider is begun once it is aborted. */
  readonly signal?: AbortSignal;
}

/** Milliseconds between two looks, while others hold the places or the last spiders. */
const lookMs = 250;

/**
 * Runs pending spiders in one event loop until none is pending: the next begins when one has fully ended, feeds and all.
 * Works with the extension SpiderCountLimit and without.
 *
 * @returns What each run came to.
 */
export async function crawlPending(
  crawls: CrawlerProcess,
  sets: SpiderSets,
  options: CrawlPendingOptions = {},
): Promise<CrawlResult[]> {
  const results: CrawlResult[] = [];
  const lane = async (): Promise<void> => {
    while (!options.signal?.aborted) {
      const claim = await sets.take();
      if (claim === undefined) return;
      if (claim === 'limit') await new Promise((resolve) => setTimeout(resolve, lookMs));
      else results.push(await crawlOne(crawls, sets, claim));
    }
  };
  await Promise.all(Array.from({ length: options.count ?? 20 }, lane));
  return results;
}

async function crawlOne(
  crawls: CrawlerProcess,
  sets: SpiderSets,
  claim: Claim,
): Promise<CrawlResult> {
  const since = performance.now();
  const timer = setInterval(() => {
    sets.renew(claim).then(
      (answer) => {
        if (answer === undefined) return;
        const isLost = answer === 'lost';
        for (const crawler of crawls.crawlers) {
          if (crawler.spiderClass.name !== claim.name) continue;
          crawler.engine?.closeSpider(isLost ? 'lease_lost' : 'stopped', 'fast');
        }
      },
      // Redis is away; the next renewal may come through.
      () => {},
    );
  }, sets.leaseMs / 5);
  try {
    const result = await crawls.crawl(claim.name).catch((error: Error) => ({
      spider: claim.name,
      reason: 'bootstrap_failed',
      ok: false,
      stats: {},
      error,
    }));
    const verdict = verdictOf(result, crawls.settings.get('FLEET_REASONS') ?? {});
    if (verdict !== 'none') {
      const to = verdict === 'retry' ? 'failed' : verdict;
      // The extension, where it is on, said so already.
      await sets.release(claim, to, recordOf(result, (performance.now() - since) / 1000));
    }
    return result;
  } finally {
    clearInterval(timer);
  }
}
