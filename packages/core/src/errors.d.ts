import type { Request } from './http/request.ts';
import type { Response } from './http/response.ts';
/** The base of every fault. `code` is stable and safe to compare with. */
export declare class LycosaError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions);
}
/** A setting is unknown or has a value it cannot have. Code `ERR_SETTING`. */
export declare class SettingsError extends LycosaError {
  constructor(message: string, options?: ErrorOptions);
}
/** The caller asked for something that cannot be. Code `ERR_USAGE`. */
export declare class UsageError extends LycosaError {
  constructor(message: string, options?: ErrorOptions);
}
/** A spider file could not be imported, or no spider has that name. Code `ERR_SPIDER_LOAD`. */
export declare class SpiderLoadError extends LycosaError {
  constructor(message: string, options?: ErrorOptions);
}
/** The content of a response does not allow what was asked of it. Code `ERR_NOT_SUPPORTED`. */
export declare class NotSupportedError extends LycosaError {
  constructor(message: string, options?: ErrorOptions);
}
/** A response with a status that the spider did not ask for. Code `ERR_HTTP_STATUS`. */
export declare class HttpError extends LycosaError {
  readonly response: Response;
  constructor(response: Response);
}
/** No usable response came. */
export declare class DownloadError extends LycosaError {}
/** Code `ERR_DOWNLOAD_TIMEOUT`. */
export declare class DownloadTimeoutError extends DownloadError {
  constructor(message: string, options?: ErrorOptions);
}
/** Code `ERR_CANNOT_RESOLVE_HOST`. */
export declare class CannotResolveHostError extends DownloadError {
  constructor(message: string, options?: ErrorOptions);
}
/** Code `ERR_CONNECTION_REFUSED`. */
export declare class DownloadConnectionRefusedError extends DownloadError {
  constructor(message: string, options?: ErrorOptions);
}
/** The connection broke, TLS failed, or the answer was not HTTP. Code `ERR_DOWNLOAD_FAILED`. */
export declare class DownloadFailedError extends DownloadError {
  constructor(message: string, options?: ErrorOptions);
}
/** The body is shorter than announced. Code `ERR_DATA_LOSS`. */
export declare class ResponseDataLossError extends DownloadError {
  /** What did arrive. */
  readonly response: Response | undefined;
  constructor(message: string, response?: Response, options?: ErrorOptions);
}
/** We stopped it: too large, a blocked address, a stop. Code `ERR_DOWNLOAD_CANCELLED`. */
export declare class DownloadCancelledError extends DownloadError {
  constructor(message: string, options?: ErrorOptions);
}
/** Code `ERR_UNSUPPORTED_URL_SCHEME`. */
export declare class UnsupportedUrlSchemeError extends DownloadError {
  constructor(message: string, options?: ErrorOptions);
}
/** The base of what components throw to steer the crawl. */
export declare class Control extends Error {
  constructor(message?: string, options?: ErrorOptions);
}
/** Drops the request. `cause` is counted in `request_dropped_count/{cause}`. */
export declare class IgnoreRequest extends Control {
  readonly dropCause: string;
  constructor(message?: string, dropCause?: string);
}
/** Closes the spider with `reason`. May be thrown in callbacks, `start()`, pipelines' `openSpider`, `spider_opened` and `spider_idle`. */
export declare class CloseSpider extends Control {
  readonly reason: string;
  constructor(reason?: string);
}
/** Thrown in `spider_idle`: the spider stays open. */
export declare class DontCloseSpider extends Control {}
/** Drops the item. */
export declare class DropItem extends Control {
  /** The level its log line gets; `DEFAULT_DROPITEM_LOG_LEVEL` if absent. */
  readonly logLevel: string | undefined;
  constructor(message?: string, logLevel?: string);
}
/** Thrown while a component is built: it is not wanted. A message is logged as a warning. */
export declare class NotConfigured extends Control {}
/** Thrown in `headers_received` or `bytes_received`: reads no further. */
export declare class StopDownload extends Control {
  /** True hands the response to the errback, false to the callback. */
  readonly fail: boolean;
  constructor(fail?: boolean);
}
/** What an errback receives. */
export interface Failure {
  readonly error: Error;
  readonly request: Request;
  /** Where there was one: an HTTP error, a partial download. */
  readonly response?: Response;
}
/** Whatever was thrown, as an Error. */
export declare function toError(thrown: unknown): Error;
//# sourceMappingURL=errors.d.ts.map
