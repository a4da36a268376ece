import type { Request } from './http/request.ts';
import type { Response } from './http/response.ts';

/*
 * LycosaError            a fault; has a stable `code`
 * ├─ SettingsError       a setting has a value it cannot have, or does not exist
 * ├─ UsageError          the caller asked for something impossible
 * ├─ SpiderLoadError     a spider file could not be imported, or names no spider
 * ├─ HttpError           a response whose status the spider did not ask for
 * ├─ NotSupportedError   the content of a response cannot be used that way
 * ├─ ParseTimeoutError   a query on a page took longer than PARSE_TIMEOUT
 * └─ DownloadError       no usable response
 *    ├─ DownloadTimeoutError  CannotResolveHostError  DownloadConnectionRefusedError
 *    ├─ DownloadFailedError  ResponseDataLossError  DownloadCancelledError
 *    └─ DownloadProxyError  UnsupportedUrlSchemeError
 * Control                thrown to steer; never logged as a fault
 * └─ IgnoreRequest  CloseSpider  DontCloseSpider  DropItem  NotConfigured  StopDownload
 */

/** The base of every fault. `code` is stable and safe to compare with. */
export class LycosaError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}

/** A setting is unknown or has a value it cannot have. Code `ERR_SETTING`. */
export class SettingsError extends LycosaError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SETTING', message, options);
  }
}

/** The caller asked for something that cannot be. Code `ERR_USAGE`. */
export class UsageError extends LycosaError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_USAGE', message, options);
  }
}

/** A spider file could not be imported, or no spider has that name. Code `ERR_SPIDER_LOAD`. */
export class SpiderLoadError extends LycosaError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPIDER_LOAD', message, options);
  }
}

/** The content of a response does not allow what was asked of it. Code `ERR_NOT_SUPPORTED`. */
export class NotSupportedError extends LycosaError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_NOT_SUPPORTED', message, options);
  }
}

/** A query on a page took longer than `PARSE_TIMEOUT`. Code `ERR_PARSE_TIMEOUT`. */
export class ParseTimeoutError extends LycosaError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_PARSE_TIMEOUT', message, options);
  }
}

/** A response with a status that the spider did not ask for. Code `ERR_HTTP_STATUS`. */
export class HttpError extends LycosaError {
  readonly response: Response;

  constructor(response: Response) {
    super('ERR_HTTP_STATUS', `${response.url} answered with status ${response.status}`);
    this.response = response;
  }
}

/** No usable response came. */
export class DownloadError extends LycosaError {}

/** Code `ERR_DOWNLOAD_TIMEOUT`. */
export class DownloadTimeoutError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_DOWNLOAD_TIMEOUT', message, options);
  }
}

/** Code `ERR_CANNOT_RESOLVE_HOST`. */
export class CannotResolveHostError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_CANNOT_RESOLVE_HOST', message, options);
  }
}

/** Code `ERR_CONNECTION_REFUSED`. */
export class DownloadConnectionRefusedError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_CONNECTION_REFUSED', message, options);
  }
}

/** The connection broke, TLS failed, or the answer was not HTTP. Code `ERR_DOWNLOAD_FAILED`. */
export class DownloadFailedError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_DOWNLOAD_FAILED', message, options);
  }
}

/** The proxy did not do its part: refused, silent, or not letting us pass. Code `ERR_PROXY`. */
export class DownloadProxyError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_PROXY', message, options);
  }
}

/** The body is shorter than announced. Code `ERR_DATA_LOSS`. */
export class ResponseDataLossError extends DownloadError {
  /** What did arrive. */
  readonly response: Response | undefined;

  constructor(message: string, response?: Response, options?: ErrorOptions) {
    super('ERR_DATA_LOSS', message, options);
    this.response = response;
  }
}

/** We stopped it: too large, a blocked address, a stop. Code `ERR_DOWNLOAD_CANCELLED`. */
export class DownloadCancelledError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_DOWNLOAD_CANCELLED', message, options);
  }
}

/** Code `ERR_UNSUPPORTED_URL_SCHEME`. */
export class UnsupportedUrlSchemeError extends DownloadError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_UNSUPPORTED_URL_SCHEME', message, options);
  }
}

/** The base of what components throw to steer the crawl. */
export class Control extends Error {
  constructor(message?: string, options?: ErrorOptions) {
    // Thrown once for each offsite link, and never shown: a stack would cost more than all the rest.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = limit;
    this.name = new.target.name;
  }
}

/** Drops the request. `cause` is counted in `request_dropped_count/{cause}`. */
export class IgnoreRequest extends Control {
  readonly dropCause: string;

  constructor(message = '', dropCause = 'ignore') {
    super(message);
    this.dropCause = dropCause;
  }
}

/** Closes the spider with `reason`. May be thrown in callbacks, `start()`, pipelines' `openSpider`, `spider_opened` and `spider_idle`. */
export class CloseSpider extends Control {
  readonly reason: string;

  constructor(reason = 'cancelled') {
    super(reason);
    this.reason = reason;
  }
}

/** Thrown in `spider_idle`: the spider stays open. */
export class DontCloseSpider extends Control {}

/** Drops the item. */
export class DropItem extends Control {
  /** The level its log line gets; `DEFAULT_DROPITEM_LOG_LEVEL` if absent. */
  readonly logLevel: string | undefined;

  constructor(message = '', logLevel?: string) {
    super(message);
    this.logLevel = logLevel;
  }
}

/** Thrown while a component is built: it is not wanted. A message is logged as a warning. */
export class NotConfigured extends Control {}

/** Thrown in `headers_received` or `bytes_received`: reads no further. */
export class StopDownload extends Control {
  /** True hands the response to the errback, false to the callback. */
  readonly fail: boolean;

  constructor(fail = true) {
    super('download stopped');
    this.fail = fail;
  }
}

/** What an errback receives. */
export interface Failure {
  readonly error: Error;
  readonly request: Request;
  /** Where there was one: an HTTP error, a partial download. */
  readonly response?: Response;
}

/** Whatever was thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
