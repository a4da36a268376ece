import { createWriteStream, type WriteStream } from 'node:fs';

import { pino, type Logger as Pino } from 'pino';

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

/** Writes log records of one source. Fields are kept as JSON beside the message. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  critical(message: string, fields?: LogFields): void;
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** Ask before building a message that is written for every request. */
  isEnabled(level: LogLevel): boolean;
  child(fields: LogFields): Logger;
  /** Called with the level of each record that is written, also by its children. */
  onRecord?: ((level: LogLevel) => void) | undefined;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** The log of a process. */
export interface RootLogger extends Logger {
  /** Writes what is left and closes the file. */
  close(): Promise<void>;
}

export interface LogOptions {
  readonly level?: LogLevel | 'OFF';
  /** File of the log; stderr if absent. */
  readonly file?: string | undefined;
  /** Add to the file; false replaces it. */
  readonly append?: boolean;
  readonly format?: 'text' | 'json';
  /** Takes whole lines instead of a file. */
  readonly destination?: { write(line: string): void };
  /** Hide passwords and tokens. */
  readonly redact?: boolean;
}

const numbers: Readonly<Record<LogLevel | 'OFF', number>> = {
  DEBUG: 20,
  INFO: 30,
  WARNING: 40,
  ERROR: 50,
  CRITICAL: 60,
  OFF: 100,
};
const levelNames: Readonly<Record<number, LogLevel>> = {
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARNING',
  50: 'ERROR',
  60: 'CRITICAL',
};
const methods = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'fatal',
} as const;

/** Makes the log of a process: JSON lines by pino, or the same as text for people. */
export function createLogger(options: LogOptions = {}): RootLogger {
  const { level = 'INFO', format = 'text', redact = true } = options;
  const file =
    options.destination || options.file === undefined
      ? undefined
      : createWriteStream(options.file, { flags: options.append === false ? 'w' : 'a' });
  const write = sink(options, file);
  const line =
    format === 'text' ? (json: string) => write(textLine(json, level === 'DEBUG')) : write;
  const logger = pino(
    {
      level: level === 'OFF' ? 'silent' : methods[level],
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (_, number) => ({ level: levelNames[number] ?? 'INFO' }) },
      serializers: { error: serializeError },
    },
    { write: (text: string) => line(redact ? redactText(text) : text) },
  );
  const root = new PinoLogger(logger, numbers[level]);
  return Object.assign(root, {
    close: () =>
      new Promise<void>((resolve) => {
        if (file) file.end(resolve);
        else resolve();
      }),
  });
}

function sink(options: LogOptions, file: WriteStream | undefined): (line: string) => void {
  const { destination } = options;
  if (destination) return (text) => destination.write(text);
  if (!file) return (text) => void process.stderr.write(text);
  // A log that cannot be written must not end the crawl; it says so once, where somebody may see it.
  file.once('error', (error) =>
    process.stderr.write(`The log file ${options.file} cannot be written: ${error.message}\n`),
  );
  return (text) => void file.write(text);
}

class PinoLogger implements Logger {
  readonly #pino: Pino;
  readonly #least: number;
  onRecord: ((level: LogLevel) => void) | undefined;

  constructor(logger: Pino, least: number) {
    this.#pino = logger;
    this.#least = least;
  }

  isEnabled(level: LogLevel): boolean {
    return numbers[level] >= this.#least;
  }

  log(level: LogLevel, message: string, fields?: LogFields): void {
    if (numbers[level] < this.#least) return;
    this.onRecord?.(level);
    this.#pino[methods[level]](fields ?? {}, message);
  }

  debug(message: string, fields?: LogFields): void {
    this.log('DEBUG', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.log('INFO', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.log('WARNING', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.log('ERROR', message, fields);
  }

  critical(message: string, fields?: LogFields): void {
    this.log('CRITICAL', message, fields);
  }

  child(fields: LogFields): Logger {
    const child = new PinoLogger(this.#pino.child(fields), this.#least);
    child.onRecord = (level) => this.onRecord?.(level);
    return child;
  }
}

function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause instanceof Error && { cause: serializeError(cause) }),
  };
}

/** `2026-12-01 03:00:00 [quotes] INFO: message {"field":1}` */
function textLine(json: string, withStack: boolean): string {
  const { time, level, spider, msg, error, stats, ...rest } = JSON.parse(json) as Record<
    string,
    unknown
  > & { error?: { name?: string; message?: string; stack?: string } };
  let line = `${String(time).slice(0, 19).replace('T', ' ')} [${typeof spider === 'string' ? oneLine(spider) : 'lycosa'}] ${String(level)}: ${oneLine(String(msg))}`;
  if (error?.message && !String(msg).includes(error.message))
    line += oneLine(`: ${error.name}: ${error.message}`);
  if (Object.keys(rest).length > 0) line += ` ${oneLine(JSON.stringify(rest))}`;
  // The stats are the one record meant to be read down the page; their names and values are ours.
  if (stats)
    for (const [name, value] of Object.entries(stats))
      line += `\n  ${oneLine(name)}: ${oneLine(String(value))}`;
  if (withStack && error?.stack)
    line += `\n${error.stack
      .split('\n')
      .map((part) => `  ${oneLine(part)}`)
      .join('\n')}`;
  return `${line}\n`;
}

// One record is one line, and no text of a stranger moves the cursor: controls, line separators, direction marks.
// oxlint-disable-next-line no-control-regex
const unprintable = /[\0-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** The text with everything that is not printable as an escape. */
export function oneLine(text: string): string {
  return text.replace(unprintable, (char) => {
    const known = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char];
    return (
      known ??
      (char < '\u0100'
        ? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
        : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    );
  });
}

// All three are linear in the text: it may be a stranger's, and long. They work on JSON and leave it JSON.
const userinfo = /:\/\/[^\s/?#"\\]*@/g;
const secretParameter =
  /([?&](?:[\w-]*(?:token|secret|password|passwd|api_?key|signature|access_?key))=)[^&#\s"\\]+/gi;

/** `Cookie: …` as a header is written, and `"cookie":"…"` as a field is. */
const secretField =
  /\b((?:set-)?cookie|(?:proxy-)?authorization|x-api-key|password)(:\s*|\\*":\s*\\*")(?:\\[^rn]|[^"\\\r\n])+/gi;

/** Hides who is logged in where: userinfo in URLs, and parameters, headers and fields that are named like secrets. */
export function redactText(text: string): string {
  return text
    .replace(userinfo, '://***@')
    .replace(secretParameter, '$1***')
    .replace(secretField, '$1$2***');
}
