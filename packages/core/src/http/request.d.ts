import { Headers, type HeadersInput } from './headers.ts';
/** What can be kept in a queue: it survives `JSON.stringify` and back unchanged. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | {
      readonly [key: string]: Json | undefined;
    };
/** Cookies of one request: a map of names and values, or a list with their attributes. */
export type RequestCookies =
  | Readonly<Record<string, string>>
  | readonly {
      readonly name: string;
      readonly value: string;
      readonly domain?: string;
      readonly path?: string;
      readonly secure?: boolean;
    }[];
/**
 * What travels with a request to its response: keys that steer Lycosa, and your own.
 * Values are JSON. Type your own keys by declaration merging.
 */
export interface RequestMeta {
  /** Skips the offsite filter. */
  allowOffsite?: boolean;
  /** This response does not move AutoThrottle's delay. */
  autothrottleDontAdjustDelay?: boolean;
  /** Which cookie jar to use; one jar for all by default. */
  cookiejar?: string | number;
  /** Links from a start page to here; kept by DepthMiddleware. */
  depth?: number;
  /** Requests from this response count their depth from 0. */
  depthReset?: boolean;
  /** Neither sends the jar's cookies nor keeps those that come. */
  dontMergeCookies?: boolean;
  dontObeyRobotstxt?: boolean;
  dontRedirect?: boolean;
  dontRetry?: boolean;
  /** Seconds from the request to the headers of its response; set by the download handler. */
  downloadLatency?: number;
  /** Bytes; overrides `DOWNLOAD_MAXSIZE`. */
  downloadMaxsize?: number;
  /** Slot to use instead of the one of the host. */
  downloadSlot?: string;
  /** Seconds; overrides `DOWNLOAD_TIMEOUT`. */
  downloadTimeout?: number;
  /** Bytes; overrides `DOWNLOAD_WARNSIZE`. */
  downloadWarnsize?: number;
  /** False keeps a body that is shorter than announced, flagged `dataloss`. */
  downloadFailOnDataloss?: boolean;
  /** Responses of any status reach the callback. */
  handleHttpstatusAll?: boolean;
  handleHttpstatusList?: readonly number[];
  isStartRequest?: boolean;
  /** Text of the link that led here. */
  linkText?: string;
  maxRetryTimes?: number;
  priorityAdjust?: number;
  proxy?: string | null;
  redirectTimes?: number;
  redirectTtl?: number;
  redirectUrls?: readonly string[];
  redirectReasons?: readonly (number | string)[];
  referrerPolicy?: string;
  retryTimes?: number;
  [key: string]: Json | undefined;
}
/**
 * A callback or errback. Pass a method of the spider (`this.parseAuthor`) or its name: requests are
 * stored by method name, so a function that is not a method of the spider is refused.
 */
export type CallbackRef = ((...args: any[]) => unknown) | string;
export interface RequestOptions {
  /** Called with the response; `parse` by default. */
  callback?: CallbackRef;
  /** Called with a `Failure` when no response came, or one whose status was not asked for. */
  errback?: CallbackRef;
  method?: string;
  headers?: HeadersInput;
  /** Text is sent as UTF-8. */
  body?: string | Uint8Array;
  cookies?: RequestCookies;
  meta?: RequestMeta;
  /** Second argument of the callback. JSON. */
  cbKwargs?: Readonly<Record<string, Json>>;
  /** Higher first; 0 by default. */
  priority?: number;
  /** True lets the duplicate filter pass. */
  dontFilter?: boolean;
  /** Not sent before this time, in milliseconds since the epoch. */
  notBefore?: number;
  flags?: readonly string[];
}
/** One request to make. It is not changed once it is scheduled: use `replace()`. */
export declare class Request {
  #private;
  /** Absolute and percent-encoded. */
  readonly url: string;
  readonly method: string;
  readonly body: Uint8Array | undefined;
  readonly cookies: RequestCookies | undefined;
  readonly meta: RequestMeta;
  readonly cbKwargs: Readonly<Record<string, Json>> | undefined;
  readonly priority: number;
  readonly dontFilter: boolean;
  readonly notBefore: number | undefined;
  readonly flags: readonly string[] | undefined;
  callback: CallbackRef | undefined;
  errback: CallbackRef | undefined;
  /** @throws UsageError when the URL has no scheme or cannot be parsed. */
  constructor(url: string, options?: RequestOptions);
  /** Made when first asked for. */
  get headers(): Headers;
  /** True where asking for `headers` would only make an empty object. */
  get hasHeaders(): boolean;
  /** A copy with some parts changed; `meta` and `cbKwargs` are copied, not shared. */
  replace(
    changes: RequestOptions & {
      url?: string;
    },
  ): Request;
  copy(): Request;
  toString(): string;
}
/** The URL as it may be shown: a password in it is not. */
export declare function redactUrl(url: string): string;
//# sourceMappingURL=request.d.ts.map
