import { UsageError } from '../errors.ts';
import type { LogLevelName } from '../settings/default-settings.ts';
import { readCurl, writeCurl } from './curl.ts';
import { Headers, type HeadersInput } from './headers.ts';
import { serializeRequest } from './stored-request.ts';
import { safeUrl } from './url.ts';

/** What can be kept in a queue: it survives `JSON.stringify` and back unchanged. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

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
  /** Address of this machine to send from; overrides `DOWNLOAD_BIND_ADDRESS`. */
  bindaddress?: string;
  /** Which cookie jar to use; one jar for all by default. */
  cookiejar?: string | number;
  /** Links from a start page to here; kept by DepthMiddleware. */
  depth?: number;
  /** Requests from this response count their depth from 0. */
  depthReset?: boolean;
  /** Neither answered from the HTTP cache nor stored in it. */
  dontCache?: boolean;
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
  /** Seconds; overrides `DOWNLOAD_HEADERS_TIMEOUT`. */
  downloadHeadersTimeout?: number;
  /** Seconds; overrides `DOWNLOAD_IDLE_TIMEOUT`. */
  downloadIdleTimeout?: number;
  /**
   * File that the body goes to while it comes, below the project's folder unless it is absolute; for what is too large for
   * memory. The response has it as `path`. Http and https only, answers of a 2xx status only.
   */
  downloadTo?: string;
  /** True cuts a body that is longer than `downloadMaxsize`, flagged `truncated`, instead of failing. Not with `downloadTo`. */
  downloadTruncate?: boolean;
  /** Bytes; overrides `DOWNLOAD_WARNSIZE`. */
  downloadWarnsize?: number;
  /** False keeps a body that is shorter than announced, flagged `dataloss`. */
  downloadFailOnDataloss?: boolean;
  /** Overrides `RETRY_GIVE_UP_LOG_LEVEL`. */
  giveUpLogLevel?: LogLevelName;
  /** Responses of any status reach the callback. */
  handleHttpstatusAll?: boolean;
  handleHttpstatusList?: readonly number[];
  /** HTTP Basic authentication of this request; `httpAuthDomain` is who may get it. */
  httpUser?: string;
  httpPass?: string;
  httpAuthDomain?: string | null;
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
  /** The URL as it is tells this request from others, not its canonical form. */
  verbatimUrl?: boolean;
  [key: string]: Json | undefined;
}

/**
 * A callback or errback. Pass a method of the spider (`this.parseAuthor`) or its name: requests are
 * stored by method name, so a function that is not a method of the spider is refused.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where callbacks of all items and arguments meet
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

const methodToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** One request to make. It is not changed once it is scheduled: use `replace()`. */
export class Request {
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
  #headers: Headers | undefined;
  #referer: string | undefined;

  /** @throws UsageError when the URL has no scheme or cannot be parsed. */
  constructor(url: string, options: RequestOptions = {}) {
    this.url = safeUrl(url);
    const method = options.method;
    this.method = method === undefined ? 'GET' : method.toUpperCase();
    if (method !== undefined && !methodToken.test(method)) {
      throw new UsageError(`${JSON.stringify(method)} is not an HTTP method.`);
    }
    const { body } = options;
    this.body = typeof body === 'string' ? Buffer.from(body) : body;
    this.cookies = options.cookies;
    // A copy: the middlewares write into it, and many requests may come from one options object.
    this.meta = { ...options.meta };
    this.cbKwargs = options.cbKwargs;
    this.priority = options.priority ?? 0;
    this.dontFilter = options.dontFilter ?? false;
    this.notBefore = options.notBefore;
    this.flags = options.flags;
    this.callback = options.callback;
    this.errback = options.errback;
    if (options.headers !== undefined) this.#headers = new Headers(options.headers);
  }

  /** Made when first asked for. */
  get headers(): Headers {
    this.#headers ??= new Headers();
    if (this.#referer !== undefined) {
      this.#headers.setDefault('referer', this.#referer);
      this.#referer = undefined;
    }
    return this.#headers;
  }

  /**
   * The Referer it will be sent with, unless it has one. Most links turn out to be known, and never need headers.
   *
   * @internal
   */
  set referer(url: string) {
    this.#referer = url;
  }

  /** True where asking for `headers` would only make an empty object. */
  get hasHeaders(): boolean {
    return this.#referer !== undefined || (this.#headers !== undefined && this.#headers.size > 0);
  }

  /** A copy with some parts changed; `meta` and `cbKwargs` are copied, not shared. */
  replace(changes: RequestOptions & { url?: string }): Request {
    const { url = this.url, ...rest } = changes;
    const copy = this.constructor as new (url: string, options: RequestOptions) => Request;
    return new copy(url, {
      callback: this.callback,
      errback: this.errback,
      method: this.method,
      headers: this.hasHeaders ? this.headers : undefined,
      body: this.body,
      cookies: this.cookies,
      meta: this.meta,
      cbKwargs: this.cbKwargs && { ...this.cbKwargs },
      priority: this.priority,
      dontFilter: this.dontFilter,
      flags: this.flags,
      ...rest,
    });
  }

  copy(): Request {
    return this.replace({});
  }

  /**
   * The request that a curl command sends, as browsers copy it (“Copy as cURL”). No file is read.
   *
   * @param options - Over what the command says: callback, meta and so on.
   * @throws UsageError for a command that is none, and for options whose meaning is not known.
   */
  static fromCurl(command: string, options?: RequestOptions): Request {
    const { url, ...own } = readCurl(command);
    return new Request(url, { ...own, ...options });
  }

  /** The curl command that sends this request, for a POSIX shell. */
  toCurl(): string {
    return writeCurl(this);
  }

  /** Plain JSON, as queues keep it, with callbacks by name: for those who store requests themselves. */
  toDict(): Record<string, Json> {
    return JSON.parse(serializeRequest(this)) as Record<string, Json>;
  }

  toString(): string {
    return `<${this.method} ${redactUrl(this.url)}>`;
  }
}

/** The URL as it may be shown: a password in it is not. */
export function redactUrl(url: string): string {
  const at = url.indexOf('@');
  if (at < 0) return url;
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@');
}
