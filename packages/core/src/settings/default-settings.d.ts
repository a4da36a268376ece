import type { ComponentClass, ComponentPriorities } from '../crawler/component.ts';
import type { DownloadHandler } from '../downloader/handlers/handler.ts';
import type { DownloaderMiddleware } from '../downloader/middleware.ts';
import type { SlotSettings } from '../downloader/slot-registry.ts';
import type { Extension } from '../extensions/extension.ts';
import type { FeedExporterClass } from '../feeds/exporters/exporter.ts';
import type { FeedsInput, UriParams } from '../feeds/feed-options.ts';
import type { FeedStorageClass } from '../feeds/storages/storage.ts';
import type { ItemPipeline } from '../pipeline/item-pipeline.ts';
import type { DupeFilter } from '../scheduler/dupe-filter.ts';
import type { SpiderMiddleware } from '../scraper/spider-middleware.ts';
export type LogLevelName = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';
/** The built-in settings: name, default, and by the default their type. Times are seconds. */
export declare const defaultSettings: {
  /** Log a line for each response that AutoThrottle considers. */
  AUTOTHROTTLE_DEBUG: boolean;
  /** Adjust the delay of each slot to the latency of its site. */
  AUTOTHROTTLE_ENABLED: boolean;
  /** Highest delay AutoThrottle sets, in seconds. */
  AUTOTHROTTLE_MAX_DELAY: number;
  /** Delay a slot starts with, in seconds. */
  AUTOTHROTTLE_START_DELAY: number;
  /** Mean number of requests in parallel that AutoThrottle aims at for each slot. */
  AUTOTHROTTLE_TARGET_CONCURRENCY: number;
  /** Name of the project. */
  BOT_NAME: string;
  /** Close after this many errors of callbacks; 0 is never. */
  CLOSESPIDER_ERRORCOUNT: number;
  /** Close after exactly this many items; 0 is never. */
  CLOSESPIDER_ITEMCOUNT: number;
  /** Close after exactly this many responses; 0 is never. */
  CLOSESPIDER_PAGECOUNT: number;
  /** Close after this many responses in a row without an item; 0 is never. */
  CLOSESPIDER_PAGECOUNT_NO_ITEM: number;
  /** Close after this many seconds; 0 is never. */
  CLOSESPIDER_TIMEOUT: number;
  /** Close when so many seconds have brought no item; 0 is never. */
  CLOSESPIDER_TIMEOUT_NO_ITEM: number;
  /** Ask for compressed responses and decode them. */
  COMPRESSION_ENABLED: boolean;
  /** Items in pipelines at once. */
  CONCURRENT_ITEMS: number;
  /** Requests in the downloader at once, over all slots; 0 is no limit. */
  CONCURRENT_REQUESTS: number;
  /** Transfers at once in each slot; 0 is no limit. */
  CONCURRENT_REQUESTS_PER_DOMAIN: number;
  /** Log the cookies of each exchange at debug level. */
  COOKIES_DEBUG: boolean;
  /** Keep cookies. */
  COOKIES_ENABLED: boolean;
  /** Most cookies kept for one domain. */
  COOKIES_MAX_PER_DOMAIN: number;
  /** Refuse cookies for whole public suffixes, such as `co.uk`. */
  COOKIES_PUBLIC_SUFFIX: boolean;
  /** Level of the log line of a dropped item. */
  DEFAULT_DROPITEM_LOG_LEVEL: LogLevelName;
  /** Headers of every request that does not have them; null leaves one out. */
  DEFAULT_REQUEST_HEADERS: Readonly<Record<string, string | null>>;
  /** Links from a start page that are followed; 0 is no limit. */
  DEPTH_LIMIT: number;
  /** Subtracted from the priority for each level of depth: positive goes breadth first. */
  DEPTH_PRIORITY: number;
  /** Count requests by depth. */
  DEPTH_STATS_VERBOSE: boolean;
  /** Downloader middlewares and their order, low numbers near the engine; `null` switches one off. */
  DOWNLOADER_MIDDLEWARES: ComponentPriorities<DownloaderMiddleware>;
  /** Count requests and responses. */
  DOWNLOADER_STATS: boolean;
  /** Shortest time between the starts of two downloads in a slot, in seconds. */
  DOWNLOAD_DELAY: number;
  /** Spread of the delay: 0.5 draws from 0.5 to 1.5 of it. */
  DOWNLOAD_DELAY_JITTER: number;
  /** A body that ends early is an error; false keeps it, flagged `dataloss`. */
  DOWNLOAD_FAIL_ON_DATALOSS: boolean;
  /** Download handlers by URL scheme; `null` takes a scheme out. */
  DOWNLOAD_HANDLERS: Readonly<Record<string, ComponentClass<DownloadHandler> | null>>;
  /** Most bytes of a body, after decompression; 0 is no limit. */
  DOWNLOAD_MAXSIZE: number;
  /** Most layers of Content-Encoding. */
  DOWNLOAD_MAX_ENCODINGS: number;
  /** Most bytes of response headers. */
  DOWNLOAD_MAX_HEADERS_SIZE: number;
  /** Settings of single slots by host or pattern (`*.example.com`): concurrency, delay (a floor), randomizeDelay. */
  DOWNLOAD_SLOTS: Readonly<Record<string, SlotSettings>>;
  /** Seconds a download may take, from its turn in the slot to the last byte. */
  DOWNLOAD_TIMEOUT: number;
  /** Refuse servers whose certificate does not hold. */
  DOWNLOAD_VERIFY_CERTIFICATES: boolean;
  /** Warn about a body of more bytes; 0 is never. */
  DOWNLOAD_WARNSIZE: number;
  /** Duplicate filter; `null` lets every request pass. */
  DUPEFILTER_CLASS: ComponentClass<DupeFilter> | null | undefined;
  /** Extensions and the order they are built in; `null` switches one off. */
  EXTENSIONS: ComponentPriorities<Extension>;
  /** Feeds by URI: where items are written and how. */
  FEEDS: FeedsInput;
  /** Feeds beside those of FEEDS; set by `-o` and `-O`. */
  FEEDS_ADDED: FeedsInput;
  /** Own exporters by format. */
  FEED_EXPORTERS: Readonly<Record<string, FeedExporterClass | null>>;
  /** Start a new file after this many items; 0 is one file. */
  FEED_EXPORT_BATCH_ITEM_COUNT: number;
  /** Encoding of feeds. */
  FEED_EXPORT_ENCODING: string;
  /** Fields to write and their order, or a map of fields and column names. */
  FEED_EXPORT_FIELDS: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Indentation of JSON and XML; 0 is one item a line. */
  FEED_EXPORT_INDENT: number;
  /** Put a quote before CSV cells that a spreadsheet would take for a formula. */
  FEED_CSV_ESCAPE_FORMULAS: boolean;
  /** Own storages by URI scheme. */
  FEED_STORAGES: Readonly<Record<string, FeedStorageClass | null>>;
  /** Write a feed that has no item. */
  FEED_STORE_EMPTY: boolean;
  /** Folder of temporary files of feeds. */
  FEED_TEMPDIR: string | undefined;
  /** Function that adds parameters for feed URIs. */
  FEED_URI_PARAMS: UriParams | undefined;
  /** Host that gets the credentials, with everything below it; required with HTTPAUTH_USER. */
  HTTPAUTH_DOMAIN: string | undefined;
  /** Password for HTTP Basic authentication. */
  HTTPAUTH_PASS: string;
  /** User for HTTP Basic authentication. */
  HTTPAUTH_USER: string;
  /** Statuses beside 2xx that callbacks see. */
  HTTPERROR_ALLOWED_CODES: readonly number[];
  /** Callbacks see responses of every status. */
  HTTPERROR_ALLOW_ALL: boolean;
  /** Item pipelines and their order; `null` switches one off. */
  ITEM_PIPELINES: ComponentPriorities<ItemPipeline>;
  /** Folder that keeps the state of a crawl, so that it goes on after a stop or a crash. */
  JOBDIR: string | undefined;
  /** Seconds between progress lines; 0 is none. */
  LOGSTATS_INTERVAL: number;
  /** Write a log at all. */
  LOG_ENABLED: boolean;
  /** File of the log; stderr if absent. */
  LOG_FILE: string | undefined;
  /** Add to LOG_FILE; false replaces it. */
  LOG_FILE_APPEND: boolean;
  /** `text` for people, `json` for one JSON object a line. */
  LOG_FORMAT: 'text' | 'json';
  /** Lowest level written. */
  LOG_LEVEL: LogLevelName;
  /** Hide passwords and tokens in log lines. */
  LOG_REDACT: boolean;
  /** Seconds between two looks at memory. */
  MEMUSAGE_CHECK_INTERVAL_SECONDS: number;
  /** Watch memory. */
  MEMUSAGE_ENABLED: boolean;
  /** Close above this many MiB of memory; 0 is never. */
  MEMUSAGE_LIMIT_MB: number;
  /** Warn above this many MiB of memory; 0 is never. */
  MEMUSAGE_WARNING_MB: number;
  /** Follow refreshes in HTML. */
  METAREFRESH_ENABLED: boolean;
  /** Elements in which a refresh is not followed. */
  METAREFRESH_IGNORE_TAGS: readonly string[];
  /** A refresh of this many seconds or more is not followed. */
  METAREFRESH_MAXDELAY: number;
  /** Vary the delay between downloads by DOWNLOAD_DELAY_JITTER. */
  RANDOMIZE_DOWNLOAD_DELAY: boolean;
  /** Follow redirects. */
  REDIRECT_ENABLED: boolean;
  /** Most redirects of one request. */
  REDIRECT_MAX_TIMES: number;
  /** Added to the priority of a redirected request. */
  REDIRECT_PRIORITY_ADJUST: number;
  /** Schemes that a redirect may lead to. */
  REDIRECT_SCHEMES: readonly string[];
  /** Send the Referer header. */
  REFERER_ENABLED: boolean;
  /** What the Referer says, by the names of the W3C. */
  REFERRER_POLICY: string;
  /** Longest wait that a Retry-After header is granted, in seconds. */
  RETRY_AFTER_MAX: number;
  /** Wait before the first retry, in seconds; it doubles with each. */
  RETRY_BACKOFF: number;
  /** Longest wait before a retry, in seconds. */
  RETRY_BACKOFF_MAX: number;
  /** Retry failed downloads. */
  RETRY_ENABLED: boolean;
  /** Codes of errors that are retried. */
  RETRY_EXCEPTIONS: readonly string[];
  /** Level of the line that says a request is given up. */
  RETRY_GIVE_UP_LOG_LEVEL: LogLevelName;
  /** Statuses that are retried. */
  RETRY_HTTP_CODES: readonly number[];
  /** Added to the priority of a retry. */
  RETRY_PRIORITY_ADJUST: number;
  /** Retries after the first attempt. */
  RETRY_TIMES: number;
  /** Most bytes of a robots.txt that are read. */
  ROBOTSTXT_MAX_SIZE: number;
  /** Obey robots.txt. */
  ROBOTSTXT_OBEY: boolean;
  /** Name that robots.txt is read for; the User-Agent of the request if absent. */
  ROBOTSTXT_USER_AGENT: string | undefined;
  /** Order of requests of equal priority: `lifo` goes deep, `fifo` goes wide. */
  SCHEDULER_MEMORY_QUEUE: 'lifo' | 'fifo';
  /** Bytes of responses being scraped above which no request is sent; 0 is no limit. */
  SCRAPER_SLOT_MAX_ACTIVE_SIZE: number;
  /** Headers that no redirect carries to another origin; `*` stands for any text. */
  SENSITIVE_HEADERS: readonly string[];
  /** Seconds after which a graceful stop becomes a fast one. */
  SHUTDOWN_TIMEOUT: number;
  /** Who shares delays and concurrency of a site: all spiders of the `process`, or each `crawler` for itself. */
  SLOT_SCOPE: 'process' | 'crawler';
  /** A spider file that cannot be imported is a warning, not an error. */
  SPIDER_LOADER_WARN_ONLY: boolean;
  /** Spider middlewares and their order, low numbers near the engine; `null` switches one off. */
  SPIDER_MIDDLEWARES: ComponentPriorities<SpiderMiddleware>;
  /** Requests that may wait before `start()` is asked for more. */
  START_QUEUE_SIZE: number;
  /** Log all stats at the end. */
  STATS_DUMP: boolean;
  /** Keep stats. */
  STATS_ENABLED: boolean;
  /** Longest URL that is requested; 0 is no limit. */
  URLLENGTH_LIMIT: number;
  /** User-Agent of requests that have none. */
  USER_AGENT: string;
};
//# sourceMappingURL=default-settings.d.ts.map
