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
export class LogFormatter {
  log(logger: Logger, record: LogRecord | null): void {
    if (record) logger.log(record.level, record.message, record.fields);
  }

  crawled(request: Request, response: Response): LogRecord | null {
    const referer = request.hasHeaders ? request.headers.get('referer') : undefined;
    const flags = response.flags.length > 0 ? ` [${response.flags.join(', ')}]` : '';
    return {
      level: 'DEBUG',
      message: `Crawled (${response.status}) ${request.toString()}${referer ? ` (referer: ${referer})` : ''}${flags}`,
    };
  }

  scraped(item: unknown, response: Response | null): LogRecord | null {
    return { level: 'DEBUG', message: `Scraped ${kindOf(item)} from ${sourceOf(response)}` };
  }

  dropped(
    item: unknown,
    error: DropItem,
    response: Response | null,
    level: LogLevel = 'WARNING',
  ): LogRecord | null {
    return {
      level: (error.logLevel as LogLevel | undefined) ?? level,
      message: `Dropped ${kindOf(item)} from ${sourceOf(response)}: ${error.message}`,
    };
  }

  itemError(item: unknown, error: Error, response: Response | null): LogRecord | null {
    return {
      level: 'ERROR',
      message: `A pipeline failed on ${kindOf(item)} from ${sourceOf(response)}: ${error.name}: ${error.message}`,
      fields: { error },
    };
  }

  spiderError(error: Error, request: Request | null, response: Response | null): LogRecord | null {
    const where = request
      ? `${String(request.callback ?? 'parse')}() failed on ${request.toString()}`
      : 'start() failed';
    return {
      level: 'ERROR',
      message: `${where}: ${error.name}: ${error.message}${place(error)}`,
      fields: { error, ...(response && { status: response.status }) },
    };
  }

  downloadError(error: Error, _request: Request): LogRecord | null {
    return { level: 'ERROR', message: `${error.name}: ${error.message}`, fields: { error } };
  }
}

function kindOf(item: unknown): string {
  const name = (item as object | null)?.constructor?.name;
  return name === undefined || name === 'Object' ? 'an item' : `a ${name}`;
}

function sourceOf(response: Response | null): string {
  return response ? response.toString() : 'start()';
}

/** Our own files are not where a spider went wrong. */
const ownFolder = new URL('..', import.meta.url).href.replace('file://', '');

/** The line of user code where it happened, so that no stack need be read. */
function place(error: Error): string {
  const line = error.stack
    ?.split('\n')
    .find(
      (one) => /^\s+at /.test(one) && !/node:|node_modules/.test(one) && !one.includes(ownFolder),
    );
  const at = line && /\(?((?:file:\/\/)?\/[^()]+:\d+):\d+\)?$/.exec(line)?.[1];
  return at ? ` (${at.replace('file://', '')})` : '';
}
