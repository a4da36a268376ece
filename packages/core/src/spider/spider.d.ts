import type { Crawler } from '../crawler/crawler.ts';
import type { Failure } from '../errors.ts';
import { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import type { Logger } from '../log/logger.ts';
import type { Settings, SettingsInput } from '../settings/settings.ts';
/** What a callback may yield: requests to follow and items to keep. Nothing else. */
export type SpiderYield<Item> = Request | Item | null | undefined;
/** What a callback may return: nothing, one thing, many, now or later. */
export type SpiderOutput<Item = unknown> =
  | AsyncGenerator<SpiderYield<Item>, void, undefined>
  | Generator<SpiderYield<Item>, void, undefined>
  | AsyncIterable<SpiderYield<Item>>
  | Iterable<SpiderYield<Item>>
  | Promise<Iterable<SpiderYield<Item>> | SpiderYield<Item> | void>
  | SpiderYield<Item>
  | void;
/** Arguments from `-a name=value`. */
export type SpiderArgs = Readonly<Record<string, string>>;
/** A spider class, as the loader finds it. */
export interface SpiderClass<S extends Spider = Spider> {
  new (args?: SpiderArgs): S;
  /** The word typed after `crawl`. */
  readonly name: string;
  readonly customSettings?: SettingsInput;
  /** Names of the arguments it takes; others are refused. */
  readonly args?: readonly string[];
  fromCrawler?(crawler: Crawler, args: SpiderArgs): S;
  updateSettings?(settings: Settings): void;
}
/**
 * What users extend: where a crawl starts, and what is read from its pages.
 *
 * @typeParam Item - What its callbacks yield beside requests.
 */
export declare class Spider<Item = unknown> {
  #private;
  /** The word typed after `crawl`. Every spider has its own. */
  static readonly name: string;
  /** Settings of this spider; they stand above the project's and below the command line's. */
  static readonly customSettings?: SettingsInput;
  /** Builds the spider of a crawl. Override it to read settings or to connect signals. */
  static fromCrawler<S extends Spider>(
    this: new (args?: SpiderArgs) => S,
    crawler: Crawler,
    args: SpiderArgs,
  ): S;
  /** Adds `customSettings`. Override it to decide at run time. */
  static updateSettings(settings: Settings): void;
  readonly name: string;
  /** Where the crawl starts, unless `start()` is overridden. */
  readonly startUrls: readonly string[];
  /** Hosts to stay on, with everything below them; all hosts if absent. */
  readonly allowedDomains?: readonly string[];
  /** Statuses beside 2xx that callbacks want to see. */
  readonly handleHttpstatusList?: readonly number[];
  readonly args: SpiderArgs;
  /** Kept between runs of one job. JSON. */
  state: Record<string, unknown>;
  constructor(args?: SpiderArgs);
  /** Set when the crawl is built; not yet in the constructor. */
  get crawler(): Crawler;
  get settings(): Settings;
  get log(): Logger;
  /** The first requests; items are welcome too. Taken as the crawl has room for them. */
  start(): SpiderOutput<Item>;
  /** Reads a page: yields items and requests. The callback of requests that name none. */
  parse(response: Response, ..._args: never[]): SpiderOutput<Item>;
  /** Called when the crawl is over, after the feeds are stored. */
  closed?(reason: string): void | Promise<void>;
}
/** A method that takes a failed request. */
export type Errback<Item = unknown> = (failure: Failure) => SpiderOutput<Item>;
//# sourceMappingURL=spider.d.ts.map
