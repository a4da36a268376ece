import type { ComponentClass, ComponentPriorities } from '../crawler/component.ts';
import type { DownloaderClass } from '../downloader/downloader.ts';
import type { AddressPolicyName } from '../downloader/handlers/address-policy.ts';
import type { DownloadHandler } from '../downloader/handlers/handler.ts';
import type { HttpCachePolicyClass } from '../downloader/http-cache/policy.ts';
import type { HttpCacheStorageClass } from '../downloader/http-cache/storage.ts';
import type { DownloaderMiddleware } from '../downloader/middleware.ts';
import type { RobotsParserClass } from '../downloader/robots-parser.ts';
import type { SlotSettings } from '../downloader/slot-registry.ts';
import type { Extension } from '../extensions/extension.ts';
import type { FeedExporterClass } from '../feeds/exporters/exporter.ts';
import type { FeedsInput, UriParams } from '../feeds/feed-options.ts';
import type { FeedStorageClass } from '../feeds/storages/storage.ts';
import type { Fingerprinter } from '../http/request-fingerprints.ts';
import type { ItemPipeline } from '../pipeline/item-pipeline.ts';
import type { DupeFilter } from '../scheduler/dupe-filter.ts';
import type { SchedulerClass } from '../scheduler/scheduler.ts';
import type { SpiderMiddleware } from '../scraper/spider-middleware.ts';
import type { StatsCollector } from '../stats/stats-collector.ts';

export type LogLevelName = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** The built-in settings: name, default, and by the default their type. Times are seconds. */
export const defaultSettings = {
  /** Networks (`10.0.0.0/8`) that may be connected to whatever ADDRESS_POLICY says. */
  ADDRESS_ALLOW: [] as readonly string[],
  /** Addresses of the inside: `intent` for hosts that the spider names itself, `public` for none, `any` for all. */
  ADDRESS_POLICY: 'intent' as AddressPolicyName,
  /** Log a line for each response that AutoThrottle considers. */
  AUTOTHROTTLE_DEBUG: false,
  /** Adjust the delay of each slot to the latency of its site. */
  AUTOTHROTTLE_ENABLED: false,
  /** What AutoThrottle goes by: the time to the headers, or the `total` time to the end of the body. */
  AUTOTHROTTLE_LATENCY: 'ttfb' as 'ttfb' | 'total',
  /** Highest delay AutoThrottle sets, in seconds. */
  AUTOTHROTTLE_MAX_DELAY: 60,
  /** Delay a slot starts with, in seconds. */
  AUTOTHROTTLE_START_DELAY: 5,
  /** Mean number of requests in parallel that AutoThrottle aims at for each slot. */
  AUTOTHROTTLE_TARGET_CONCURRENCY: 1,
  /** Key of object stores; without it the AWS SDK looks where it always does. */
  AWS_ACCESS_KEY_ID: undefined as string | undefined,
  /** URL of an object store that is not Amazon's. */
  AWS_ENDPOINT_URL: undefined as string | undefined,
  /** Region of the object store. */
  AWS_REGION_NAME: undefined as string | undefined,
  /** Secret that belongs to AWS_ACCESS_KEY_ID. */
  AWS_SECRET_ACCESS_KEY: undefined as string | undefined,
  /** Token of temporary keys. */
  AWS_SESSION_TOKEN: undefined as string | undefined,
  /** Slow down for a site that answers 429 or 503, times out or breaks connections. */
  BACKOFF_ENABLED: true,
  /** Highest delay that a site can push back to, in seconds. */
  BACKOFF_MAX_DELAY: 60,
  /** Delay after the first refusal of a site that had none, in seconds. */
  BACKOFF_START_DELAY: 1,
  /** Close after this many errors of callbacks; 0 is never. */
  CLOSESPIDER_ERRORCOUNT: 0,
  /** Close after exactly this many items; 0 is never. */
  CLOSESPIDER_ITEMCOUNT: 0,
  /** Close after exactly this many responses; 0 is never. */
  CLOSESPIDER_PAGECOUNT: 0,
  /** Close after this many responses in a row without an item; 0 is never. */
  CLOSESPIDER_PAGECOUNT_NO_ITEM: 0,
  /** Close after this many seconds; 0 is never. */
  CLOSESPIDER_TIMEOUT: 0,
  /** Close when so many seconds have brought no item; 0 is never. */
  CLOSESPIDER_TIMEOUT_NO_ITEM: 0,
  /** Ask for compressed responses and decode them. */
  COMPRESSION_ENABLED: true,
  /** Items in pipelines at once. */
  CONCURRENT_ITEMS: 100,
  /** Requests in the downloader at once, over all slots; 0 is no limit. */
  CONCURRENT_REQUESTS: 16,
  /** Transfers at once in each slot; 0 is no limit. */
  CONCURRENT_REQUESTS_PER_DOMAIN: 8,
  /** Above 0, slots are one for each address instead of each host, with so many transfers at once. */
  CONCURRENT_REQUESTS_PER_IP: 0,
  /** Log the cookies of each exchange at debug level. */
  COOKIES_DEBUG: false,
  /** Keep cookies. */
  COOKIES_ENABLED: true,
  /** Most cookies kept for one domain. */
  COOKIES_MAX_PER_DOMAIN: 180,
  /** Refuse cookies for whole public suffixes, such as `co.uk`. */
  COOKIES_PUBLIC_SUFFIX: true,
  /** Level of the log line of a dropped item. */
  DEFAULT_DROPITEM_LOG_LEVEL: 'WARNING' as LogLevelName,
  /** Headers of every request that does not have them; null leaves one out. */
  DEFAULT_REQUEST_HEADERS: {
    Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'Accept-Language': 'en',
  } as Readonly<Record<string, string | null>>,
  /** Links from a start page that are followed; 0 is no limit. */
  DEPTH_LIMIT: 0,
  /** Subtracted from the priority for each level of depth: positive goes breadth first. */
  DEPTH_PRIORITY: 0,
  /** Count requests by depth. */
  DEPTH_STATS_VERBOSE: false,
  /** Remember the addresses of hosts. */
  DNSCACHE_ENABLED: true,
  /** Most hosts whose addresses are remembered. */
  DNSCACHE_SIZE: 10_000,
  /** Seconds that resolving a name may take. */
  DNS_TIMEOUT: 60,
  /** Downloader middlewares and their order, low numbers near the engine; `null` switches one off. */
  DOWNLOADER_MIDDLEWARES: [] as ComponentPriorities<DownloaderMiddleware>,
  /** Count requests and responses. */
  DOWNLOADER_STATS: true,
  /** Address of this machine to send from; undefined is what the system chooses. */
  DOWNLOAD_BIND_ADDRESS: undefined as string | undefined,
  /** Shortest time between the starts of two downloads in a slot, in seconds. */
  DOWNLOAD_DELAY: 0,
  /** Spread of the delay: 0.5 draws from 0.5 to 1.5 of it. */
  DOWNLOAD_DELAY_JITTER: 0.5,
  /** A body that ends early is an error; false keeps it, flagged `dataloss`. */
  DOWNLOAD_FAIL_ON_DATALOSS: true,
  /** Download handlers by URL scheme; `null` takes a scheme out. */
  DOWNLOAD_HANDLERS: {} as Readonly<Record<string, ComponentClass<DownloadHandler> | null>>,
  /** Seconds until the response headers, connecting included; 0 is no limit. */
  DOWNLOAD_HEADERS_TIMEOUT: 60,
  /** Seconds in which nothing of a body comes; 0 is no limit. */
  DOWNLOAD_IDLE_TIMEOUT: 30,
  /** Most bytes of a body, after decompression; 0 is no limit. */
  DOWNLOAD_MAXSIZE: 67_108_864,
  /** Most layers of Content-Encoding. */
  DOWNLOAD_MAX_ENCODINGS: 3,
  /** Most bytes of response headers. */
  DOWNLOAD_MAX_HEADERS_SIZE: 65_536,
  /** Settings of single slots by host or pattern (`*.example.com`): concurrency, delay (a floor), randomizeDelay. */
  DOWNLOAD_SLOTS: {} as Readonly<Record<string, SlotSettings>>,
  /** Seconds a download may take, from its turn in the slot to the last byte. */
  DOWNLOAD_TIMEOUT: 180,
  /** Refuse servers whose certificate does not hold. */
  DOWNLOAD_VERIFY_CERTIFICATES: true,
  /** Warn about a body of more bytes; 0 is never. */
  DOWNLOAD_WARNSIZE: 16_777_216,
  /** Class that requests go through on their way to a response; extends the built-in `Downloader`. */
  DOWNLOADER: undefined as DownloaderClass | string | undefined,
  /** Duplicate filter; `null` lets every request pass. */
  DUPEFILTER_CLASS: undefined as ComponentClass<DupeFilter> | string | null | undefined,
  /** Log every duplicate, not only the first. */
  DUPEFILTER_DEBUG: false,
  /** Extensions and the order they are built in; `null` switches one off. */
  EXTENSIONS: [] as ComponentPriorities<Extension>,
  /** Feeds by URI: where items are written and how. */
  FEEDS: {} as FeedsInput,
  /** Feeds beside those of FEEDS; set by `-o` and `-O`. */
  FEEDS_ADDED: {} as FeedsInput,
  /** Own exporters by format. */
  FEED_EXPORTERS: {} as Readonly<Record<string, FeedExporterClass | null>>,
  /** Start a new file after this many items; 0 is one file. */
  FEED_EXPORT_BATCH_ITEM_COUNT: 0,
  /** Encoding of feeds. */
  FEED_EXPORT_ENCODING: 'utf-8',
  /** Fields to write and their order, or a map of fields and column names. */
  FEED_EXPORT_FIELDS: undefined as readonly string[] | Readonly<Record<string, string>> | undefined,
  /** Indentation of JSON and XML; 0 is one item a line. */
  FEED_EXPORT_INDENT: 0,
  /** Put a quote before CSV cells that a spreadsheet would take for a formula. */
  FEED_CSV_ESCAPE_FORMULAS: false,
  /** Who may read what feeds store in S3: a canned ACL such as `public-read`; the bucket's own rules without it. */
  FEED_STORAGE_S3_ACL: undefined as string | undefined,
  /** Own storages by URI scheme. */
  FEED_STORAGES: {} as Readonly<Record<string, FeedStorageClass | null>>,
  /** Write a feed that has no item. */
  FEED_STORE_EMPTY: true,
  /** Folder of temporary files of feeds. */
  FEED_TEMPDIR: undefined as string | undefined,
  /** Function that adds parameters for feed URIs. */
  FEED_URI_PARAMS: undefined as UriParams | undefined,
  /** Host that gets the credentials, with everything below it; required with HTTPAUTH_USER. */
  HTTPAUTH_DOMAIN: undefined as string | undefined,
  /** Password for HTTP Basic authentication. */
  HTTPAUTH_PASS: '',
  /** User for HTTP Basic authentication. */
  HTTPAUTH_USER: '',
  /** Most elements inside one another in a page; deeper ones stand side by side, as in browsers. 0 is no limit. */
  HTML_MAX_DEPTH: 512,
  /** Most elements, attributes, texts and comments of a page; the rest is not read. 0 is no limit. */
  HTML_MAX_NODES: 1_000_000,
  /** RFC policy: store even what has no sign of being worth it. */
  HTTPCACHE_ALWAYS_STORE: false,
  /** Folder of the cache; each spider has its own inside of it. */
  HTTPCACHE_DIR: '.lycosa/httpcache',
  /** Answer requests from stored responses. */
  HTTPCACHE_ENABLED: false,
  /** Age from which on a stored response counts as missing; 0 is never. */
  HTTPCACHE_EXPIRATION_SECS: 0,
  /** Compress what is stored. */
  HTTPCACHE_GZIP: false,
  /** Statuses that are not stored. */
  HTTPCACHE_IGNORE_HTTP_CODES: [] as readonly number[],
  /** Drop requests whose response is not stored: a crawl without the network. */
  HTTPCACHE_IGNORE_MISSING: false,
  /** RFC policy: directives of Cache-Control in responses to disregard. */
  HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS: [] as readonly string[],
  /** URL schemes that are not cached. */
  HTTPCACHE_IGNORE_SCHEMES: ['file', 'data'] as readonly string[],
  /** What is cached and for how long: `dummy` is everything for ever, `rfc` as a browser does; or a class. */
  HTTPCACHE_POLICY: 'dummy' as 'dummy' | 'rfc' | HttpCachePolicyClass,
  /** Where responses are kept; files if absent. */
  HTTPCACHE_STORAGE: undefined as HttpCacheStorageClass | undefined,
  /** Statuses beside 2xx that callbacks see. */
  HTTPERROR_ALLOWED_CODES: [] as readonly number[],
  /** Callbacks see responses of every status. */
  HTTPERROR_ALLOW_ALL: false,
  /** Send requests by the proxies that meta and the environment name. */
  HTTPPROXY_ENABLED: true,
  /** Item pipelines and their order; `null` switches one off. */
  ITEM_PIPELINES: [] as ComponentPriorities<ItemPipeline>,
  /** Folder that keeps the state of a crawl, so that it goes on after a stop or a crash. */
  JOBDIR: undefined as string | undefined,
  /** Seconds between progress lines; 0 is none. */
  LOGSTATS_INTERVAL: 60,
  /** Most requests that one HTML page leads to; 0 is no limit. */
  LINKS_PER_PAGE_LIMIT: 10_000,
  /** Write a log at all. */
  LOG_ENABLED: true,
  /** File of the log; stderr if absent. */
  LOG_FILE: undefined as string | undefined,
  /** Add to LOG_FILE; false replaces it. */
  LOG_FILE_APPEND: true,
  /** `text` for people, `json` for one JSON object a line. */
  LOG_FORMAT: 'text' as 'text' | 'json',
  /** Lowest level written. */
  LOG_LEVEL: 'INFO' as LogLevelName,
  /** Hide passwords and tokens in log lines. */
  LOG_REDACT: true,
  /** Seconds between two looks at memory. */
  MEMUSAGE_CHECK_INTERVAL_SECONDS: 60,
  /** Watch memory. */
  MEMUSAGE_ENABLED: true,
  /** Close above this many MiB of memory; 0 is never. */
  MEMUSAGE_LIMIT_MB: 0,
  /** Warn above this many MiB of memory; 0 is never. */
  MEMUSAGE_WARNING_MB: 0,
  /** Follow refreshes in HTML. */
  METAREFRESH_ENABLED: true,
  /** Elements in which a refresh is not followed. */
  METAREFRESH_IGNORE_TAGS: ['noscript'] as readonly string[],
  /** A refresh of this many seconds or more is not followed. */
  METAREFRESH_MAXDELAY: 100,
  /** Seconds that reading a page, or one query on it, may take. 0 is no limit. */
  PARSE_TIMEOUT: 5,
  /** Vary the delay between downloads by DOWNLOAD_DELAY_JITTER. */
  RANDOMIZE_DOWNLOAD_DELAY: true,
  /** Follow redirects. */
  REDIRECT_ENABLED: true,
  /** Most redirects of one request. */
  REDIRECT_MAX_TIMES: 20,
  /** Added to the priority of a redirected request. */
  REDIRECT_PRIORITY_ADJUST: 2,
  /** Schemes that a redirect may lead to. */
  REDIRECT_SCHEMES: ['http', 'https'] as readonly string[],
  /** Send the Referer header. */
  REFERER_ENABLED: true,
  /** What the Referer says, by the names of the W3C. */
  REFERRER_POLICY: 'strict-origin-when-cross-origin',
  /** Class that says which requests are the same; undefined goes by method, canonical URL and body. */
  REQUEST_FINGERPRINTER_CLASS: undefined as ComponentClass<Fingerprinter> | string | undefined,
  /** Longest wait that a Retry-After header is granted, in seconds. */
  RETRY_AFTER_MAX: 3600,
  /** Wait before the first retry, in seconds; it doubles with each. */
  RETRY_BACKOFF: 1,
  /** Longest wait before a retry, in seconds. */
  RETRY_BACKOFF_MAX: 60,
  /** Retry failed downloads. */
  RETRY_ENABLED: true,
  /** Codes of errors that are retried. */
  RETRY_EXCEPTIONS: [
    'ERR_CANNOT_RESOLVE_HOST',
    'ERR_CONNECTION_REFUSED',
    'ERR_DATA_LOSS',
    'ERR_DOWNLOAD_FAILED',
    'ERR_DOWNLOAD_TIMEOUT',
    'ERR_PROXY',
  ] as readonly string[],
  /** Level of the line that says a request is given up; what it failed with is told in any case. */
  RETRY_GIVE_UP_LOG_LEVEL: 'DEBUG' as LogLevelName,
  /** Statuses that are retried. */
  RETRY_HTTP_CODES: [500, 502, 503, 504, 522, 524, 408, 429] as readonly number[],
  /** Added to the priority of a retry. */
  RETRY_PRIORITY_ADJUST: -1,
  /** Retries after the first attempt. */
  RETRY_TIMES: 2,
  /** Longest delay that robots.txt is granted, in seconds; 0 ignores Crawl-delay and Request-rate. */
  ROBOTSTXT_CRAWL_DELAY_MAX: 30,
  /** Most bytes of a robots.txt that are read; 0 is 16 MiB. */
  ROBOTSTXT_MAX_SIZE: 524_288,
  /** Obey robots.txt. */
  ROBOTSTXT_OBEY: true,
  /** Reads robots.txt files, in place of the built-in parser. */
  ROBOTSTXT_PARSER: undefined as RobotsParserClass | string | undefined,
  /** Seconds that pages wait where robots.txt answers with 5xx or not at all; twice as long each time. */
  ROBOTSTXT_RETRY_DELAY: 15,
  /** Times that pages wait for robots.txt before they are dropped or fail. */
  ROBOTSTXT_RETRY_TIMES: 2,
  /** Name that robots.txt is read for; the User-Agent of the request if absent. */
  ROBOTSTXT_USER_AGENT: undefined as string | undefined,
  /** Where requests wait, as a class or as text (`@lycosa/redis#RedisScheduler`); if absent, memory or the file of JOBDIR. */
  SCHEDULER: undefined as SchedulerClass | string | undefined,
  /** Order of requests of equal priority: `lifo` goes deep, `fifo` goes wide. */
  SCHEDULER_MEMORY_QUEUE: 'lifo' as 'lifo' | 'fifo',
  /** Bytes of responses being scraped above which no request is sent; 0 is no limit. */
  SCRAPER_SLOT_MAX_ACTIVE_SIZE: 5_000_000,
  /** Headers that no redirect carries to another origin; `*` stands for any text. */
  SENSITIVE_HEADERS: [
    'Authorization',
    'Cookie',
    'Proxy-Authorization',
    'X-Api-Key',
    '*-Token',
  ] as readonly string[],
  /** Seconds after which a graceful stop becomes a fast one. */
  SHUTDOWN_TIMEOUT: 10,
  /** Most sitemap indexes between a start page and a sitemap; 0 is no limit. */
  SITEMAP_MAX_DEPTH: 5,
  /** Most bytes of a sitemap, after decompression; 0 is no limit. */
  SITEMAP_MAX_SIZE: 52_428_800,
  /** Who shares delays and concurrency of a site: all spiders of the `process`, or each `crawler` for itself. */
  SLOT_SCOPE: 'process' as 'process' | 'crawler',
  /** A spider file that cannot be imported is a warning, not an error. */
  SPIDER_LOADER_WARN_ONLY: false,
  /** Spider middlewares and their order, low numbers near the engine; `null` switches one off. */
  SPIDER_MIDDLEWARES: [] as ComponentPriorities<SpiderMiddleware>,
  /** Requests that may wait before `start()` is asked for more. */
  START_QUEUE_SIZE: 1000,
  /** Collector of stats, as a class or as text (`@lycosa/redis#RedisStatsCollector`); in memory if absent. */
  STATS_CLASS: undefined as ComponentClass<StatsCollector> | string | undefined,
  /** Log all stats at the end. */
  STATS_DUMP: true,
  /** Keep stats. */
  STATS_ENABLED: true,
  /** Longest URL that is requested; 0 is no limit. */
  URLLENGTH_LIMIT: 2083,
  /** User-Agent of requests that have none. */
  USER_AGENT: 'Lycosa/0.1 (+https://www.npmjs.com/package/lycosa)',
};
