import type { DownloaderMiddleware } from '../downloader/middleware.ts';
import { CrawlerSlots, SlotRegistry } from '../downloader/slot-registry.ts';
import { Engine, type StopMode } from '../engine/engine.ts';
import type { Extension } from '../extensions/extension.ts';
import type { Request } from '../http/request.ts';
import { LogFormatter } from '../log/log-formatter.ts';
import type { Logger } from '../log/logger.ts';
import type { ItemPipeline } from '../pipeline/item-pipeline.ts';
import type { DupeFilter } from '../scheduler/dupe-filter.ts';
import { JobFile } from '../scheduler/job.ts';
import type { SpiderMiddleware } from '../scraper/spider-middleware.ts';
import type { Settings } from '../settings/settings.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider, SpiderArgs, SpiderClass } from '../spider/spider.ts';
import { StatsCollector, type StatValue } from '../stats/stats-collector.ts';
import { type ComponentClass } from './component.ts';
/** How a crawl ended. */
export interface CrawlResult {
  readonly spider: string;
  /** `finished`, `shutdown`, `start_error`, `closespider_…`, `bootstrap_failed`, or what closed it. */
  readonly reason: string;
  /** False if it could not start, was interrupted, or lost something: all requests failed, a feed was not stored. */
  readonly ok: boolean;
  readonly stats: Readonly<Record<string, StatValue>>;
  readonly error?: Error;
}
type Resolved<T> = readonly (readonly [ComponentClass<T>, number])[];
/** The component classes of a crawl, in their order. */
export interface CrawlerComponents {
  readonly downloaderMiddlewares: Resolved<DownloaderMiddleware>;
  readonly spiderMiddlewares: Resolved<SpiderMiddleware>;
  readonly pipelines: Resolved<ItemPipeline>;
  readonly extensions: Resolved<Extension>;
  /** Null switches duplicates off; undefined is the default filter. */
  readonly dupeFilter: DupeFilter | null | undefined;
}
export interface CrawlerOptions {
  readonly log: Logger;
  /** Shared by the crawlers of a process. */
  readonly slots?: SlotRegistry;
  /** Folder that component paths and feeds are seen from. */
  readonly root?: string;
}
/** One run of one spider: its settings, signals, stats, components and engine. */
export declare class Crawler {
  #private;
  readonly spiderClass: SpiderClass;
  readonly settings: Settings;
  readonly signals: SignalManager;
  readonly stats: StatsCollector;
  readonly log: Logger;
  readonly root: string;
  readonly slots: CrawlerSlots;
  logFormatter: LogFormatter;
  /** Requests dropped so far. */
  droppedCount: number;
  constructor(spiderClass: SpiderClass, settings: Settings, options: CrawlerOptions);
  /** @throws Error before the crawl has started. */
  get spider(): Spider;
  get engine(): Engine | undefined;
  /** The file of the job, with `JOBDIR`. */
  get job(): JobFile | undefined;
  get components(): CrawlerComponents;
  get extensions(): readonly Extension[];
  getExtension<T extends Extension>(componentClass: new (...args: never[]) => T): T | undefined;
  getDownloaderMiddleware<T extends DownloaderMiddleware>(
    componentClass: new (...args: never[]) => T,
  ): T | undefined;
  getSpiderMiddleware<T extends SpiderMiddleware>(
    componentClass: new (...args: never[]) => T,
  ): T | undefined;
  getItemPipeline<T extends ItemPipeline>(
    componentClass: new (...args: never[]) => T,
  ): T | undefined;
  /** Says why a request is not made: one stat, one signal, one debug line. */
  dropped(request: Request, cause: string, message?: string): void;
  /** Makes the result not ok. The first error is the one reported; log it yourself. */
  fail(error: Error): void;
  /** Stops the crawl; what is not done goes back to the scheduler. */
  stop(mode?: StopMode): void;
  /** Runs the crawl to its end. Once only. Never rejects: a spider that cannot start has a result too. */
  crawl(args?: SpiderArgs): Promise<CrawlResult>;
}
export {};
//# sourceMappingURL=crawler.d.ts.map
