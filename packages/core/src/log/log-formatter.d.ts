import type { DropItem } from '../errors.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import type { LogFields, Logger, LogLevel } from './logger.ts';
/** One record to write. */
export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: LogFields;
}
/**
 * Words the records that are written for requests and items. Extend it to change or silence them (null). Items are
 * named by what they are, not by what they hold.
 */
export declare class LogFormatter {
  log(logger: Logger, record: LogRecord | null): void;
  crawled(request: Request, response: Response): LogRecord | null;
  scraped(item: unknown, response: Response | null): LogRecord | null;
  dropped(
    item: unknown,
    error: DropItem,
    response: Response | null,
    level?: LogLevel,
  ): LogRecord | null;
  itemError(item: unknown, error: Error, response: Response | null): LogRecord | null;
  spiderError(error: Error, request: Request | null, response: Response | null): LogRecord | null;
  downloadError(error: Error, _request: Request): LogRecord | null;
}
//# sourceMappingURL=log-formatter.d.ts.map
