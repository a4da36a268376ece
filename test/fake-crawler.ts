import type { Crawler } from '../packages/core/src/crawler/crawler.ts';
import { CrawlerSlots, SlotRegistry } from '../packages/core/src/downloader/slot-registry.ts';
import { RequestFingerprints } from '../packages/core/src/http/request-fingerprints.ts';
import type { Request } from '../packages/core/src/http/request.ts';
import type { Response } from '../packages/core/src/http/response.ts';
import { createLogger, type RootLogger } from '../packages/core/src/log/logger.ts';
import { Settings, type SettingsInput } from '../packages/core/src/settings/settings.ts';
import { SignalManager } from '../packages/core/src/signals/signal-manager.ts';
import { StatsCollector } from '../packages/core/src/stats/stats-collector.ts';

/** What a middleware needs of a crawler, without a crawl. */
export interface FakeCrawler {
  /** To be handed to the unit under test. */
  readonly crawler: Crawler;
  readonly stats: StatsCollector;
  readonly signals: SignalManager;
  /** Log lines so far. */
  readonly lines: string[];
  /** Causes of dropped requests. */
  readonly dropped: string[];
}

export interface FakeCrawlerOptions {
  readonly settings?: SettingsInput;
  readonly spider?: {
    allowedDomains?: readonly string[];
    handleHttpstatusList?: readonly number[];
  };
  /** Answers `engine.download()`. */
  readonly download?: (request: Request) => Promise<Response>;
}

export function fakeCrawler(options: FakeCrawlerOptions = {}): FakeCrawler {
  const lines: string[] = [];
  const dropped: string[] = [];
  const log: RootLogger = createLogger({
    level: 'DEBUG',
    destination: { write: (line) => void lines.push(line) },
  });
  const stats = new StatsCollector();
  const signals = new SignalManager();
  const crawler = {
    settings: new Settings(options.settings ?? {}),
    stats,
    signals,
    log,
    spider: { name: 'fake', ...options.spider },
    components: {},
    engine: { download: options.download },
    fingerprints: new RequestFingerprints(),
    slots: new CrawlerSlots(new SlotRegistry(), { concurrency: 8, delay: 0, jitter: 0, slots: {} }),
    dropped: (_: Request, cause: string) => void dropped.push(cause),
  };
  // The rest of a crawler is never asked for by the units that take this one.
  return { crawler: crawler as unknown as Crawler, stats, signals, lines, dropped };
}
