export * from './errors.ts';
export { Headers, type HeadersInput } from './http/headers.ts';
export {
  type CallbackRef,
  type Json,
  Request,
  type RequestCookies,
  type RequestMeta,
  type RequestOptions,
} from './http/request.ts';
export { JsonRequest, type JsonRequestOptions } from './http/json-request.ts';
export {
  type FormData,
  type FormOptions,
  FormRequest,
  type FormRequestOptions,
} from './http/form-request.ts';
export { deserializeRequest, requestFromDict, serializeRequest } from './http/serialize.ts';
export { Response, type ResponseInit, type Timings } from './http/response.ts';
export {
  createResponse,
  HtmlResponse,
  JsonResponse,
  TextResponse,
  XmlResponse,
} from './http/response-types.ts';
export { canonicalizeUrl, fingerprint, type FingerprintOptions } from './http/fingerprint.ts';
export {
  type Fingerprinter,
  RequestFingerprinter,
  RequestFingerprints,
} from './http/request-fingerprints.ts';
export { Selector, SelectorList } from './selector/selector.ts';
export type { XPathOptions } from './selector/xpath.ts';
export { type Link, LinkExtractor, type LinkExtractorOptions } from './selector/link-extractor.ts';
export {
  type Errback,
  Spider,
  type SpiderArgs,
  type SpiderClass,
  type SpiderOutput,
  type SpiderYield,
} from './spider/spider.ts';
export { CrawlSpider, Rule, type RuleOptions } from './spider/crawl-spider.ts';
export { SitemapSpider } from './spider/sitemap-spider.ts';
export { readSitemap, type Sitemap, type SitemapEntry } from './spider/sitemap.ts';
export { SpiderLoader } from './crawler/spider-loader.ts';
export { defineConfig, type LycosaConfig } from './crawler/config.ts';
export {
  Crawler,
  type CrawlerComponents,
  type CrawlerOptions,
  type CrawlResult,
  type CrawlRun,
} from './crawler/crawler.ts';
export { CrawlerProcess, type CrawlerProcessOptions } from './crawler/crawler-process.ts';
export type { ComponentClass, ComponentPriorities } from './crawler/component.ts';
export { Engine, type StopMode } from './engine/engine.ts';
export {
  MemoryScheduler,
  type MemorySchedulerOptions,
  type Scheduler,
  type SchedulerClass,
  type SchedulerHooks,
} from './scheduler/scheduler.ts';
export { callbackRefusal } from './scheduler/callback-refusal.ts';
export { type JobRepair, repairJob } from './scheduler/job-repair.ts';
export { clearJob, type JobSummary, readJob } from './scheduler/job-summary.ts';
export { type DupeFilter, FingerprintDupeFilter, NoDupeFilter } from './scheduler/dupe-filter.ts';
export { Downloader, type DownloaderClass } from './downloader/downloader.ts';
export {
  type RobotsParser,
  type RobotsParserClass,
  RobotsTxt,
} from './downloader/robots-parser.ts';
export type { DownloaderMiddleware, MaybePromise } from './downloader/middleware.ts';
export type { AddressPolicyName } from './downloader/handlers/address-policy.ts';
export type { DownloadHandler } from './downloader/handlers/handler.ts';
export type { TlsSettings, TlsVersion } from './downloader/handlers/tls.ts';
export {
  Slot,
  type SlotChange,
  type SlotOverride,
  type SlotReport,
  type SlotWaiter,
  type SlotWish,
} from './downloader/slot.ts';
export type { Congestion } from './downloader/slot-backoff.ts';
export {
  CrawlerSlots,
  type SlotDefaults,
  SlotRegistry,
  type SlotSettings,
} from './downloader/slot-registry.ts';
export type { SpiderMiddleware } from './scraper/spider-middleware.ts';
export { Scraper, type ScraperHost, type ScrapeResult } from './scraper/scraper.ts';
export { type ItemPipeline, ItemPipelines } from './pipeline/item-pipeline.ts';
export { defaultSettings } from './settings/default-settings.ts';
export {
  type SettingPriority,
  Settings,
  type SettingsInput,
  type SettingsMap,
  unknownSettings,
} from './settings/settings.ts';
export {
  type FeedInput,
  type FeedOptions,
  type FeedsInput,
  parseFeedOption,
  parseFeedOutputs,
} from './feeds/feed-options.ts';
export { CsvExporter } from './feeds/exporters/csv.ts';
export type {
  CsvSegment,
  ExporterOptions,
  FeedEncoding,
  FeedExporter,
  FeedExporterClass,
  FeedPass,
  KeptRecords,
} from './feeds/exporters/exporter.ts';
export type {
  FeedStorage,
  FeedStorageClass,
  FeedStorageOptions,
} from './feeds/storages/storage.ts';
export type {
  CachedResponse,
  HttpCachePolicy,
  HttpCachePolicyClass,
} from './downloader/http-cache/policy.ts';
export type {
  HttpCacheEntry,
  HttpCacheStorage,
  HttpCacheStorageClass,
} from './downloader/http-cache/storage.ts';
export { repairFeed, type RepairOptions, type RepairResult } from './feeds/repair.ts';
export { nearest } from './settings/nearest.ts';
export { SignalManager } from './signals/signal-manager.ts';
export type { SignalMap } from './signals/signal-map.ts';
export { DummyStatsCollector, StatsCollector, type StatValue } from './stats/stats-collector.ts';
export {
  createLogger,
  type Logger,
  type LogLevel,
  redactText,
  type RootLogger,
} from './log/logger.ts';
export { LogFormatter } from './log/log-formatter.ts';
export type { Extension } from './extensions/extension.ts';
export { getRetryRequest, type RetryOptions } from './downloader/middlewares/retry.ts';
