import { createWriteStream } from 'node:fs';

import { pino } from 'pino';
const numbers = {
  DEBUG: 20,
  INFO: 30,
  WARNING: 40,
  ERROR: 50,
  CRITICAL: 60,
  OFF: 100,
};
const levelNames = {
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
};
/** Makes the log of a process: JSON lines by pino, or the same as text for people. */
export function createLogger(options = {}) {
  const { level = 'INFO', format = 'text', redact = true } = options;
  const file =
    options.destination || options.file === undefined
      ? undefined
      : createWriteStream(options.file, { flags: options.append === false ? 'w' : 'a' });
  const write = sink(options, file);
  const line = format === 'text' ? (json) => write(textLine(json, level === 'DEBUG')) : write;
  const logger = pino(
    {
      level: level === 'OFF' ? 'silent' : methods[level],
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (_, number) => ({ level: levelNames[number] ?? 'INFO' }) },
      serializers: { error: serializeError },
    },
    { write: (text) => line(redact ? redactText(text) : text) },
  );
  const root = new PinoLogger(logger, numbers[level]);
  return Object.assign(root, {
    close: () =>
      new Promise((resolve) => {
        if (file) file.end(resolve);
        else resolve();
      }),
  });
}
function sink(options, file) {
  const { destination } = options;
  if (destination) return (text) => destination.write(text);
  if (!file) return (text) => void process.stderr.write(text);
  // A log that cannot be written must not end the crawl; it says so once, where somebody may see it.
  file.once('error', (error) =>
    process.stderr.write(`The log file ${options.file} cannot be written: ${error.message}\n`),
  );
  return (text) => void file.write(text);
}
class PinoLogger {
  #pino;
  #least;
  onRecord;
  constructor(logger, least) {
    this.#pino = logger;
    this.#least = least;
  }
  isEnabled(level) {
    return numbers[level] >= this.#least;
  }
  log(level, message, fields) {
    if (numbers[level] < this.#least) return;
    this.onRecord?.(level);
    this.#pino[methods[level]](fields ?? {}, message);
  }
  debug(message, fields) {
    this.log('DEBUG', message, fields);
  }
  info(message, fields) {
    this.log('INFO', message, fields);
  }
  warn(message, fields) {
    this.log('WARNING', message, fields);
  }
  error(message, fields) {
    this.log('ERROR', message, fields);
  }
  critical(message, fields) {
    this.log('CRITICAL', message, fields);
  }
  child(fields) {
    return new PinoLogger(this.#pino.child(fields), this.#least);
  }
}
function serializeError(error) {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error;
  return {
    name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause instanceof Error && { cause: serializeError(cause) }),
  };
}
/** `2026-12-01 03:00:00 [quotes] INFO: message {"field":1}` */
function textLine(json, withStack) {
  const { time, level, spider, msg, error, stats, ...rest } = JSON.parse(json);
  let line = `${String(time).slice(0, 19).replace('T', ' ')} [${typeof spider === 'string' ? oneLine(spider) : 'lycosa'}] ${String(level)}: ${oneLine(String(msg))}`;
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
export function oneLine(text) {
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
const userinfo = /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"\\]*@/gi;
const secretParameter =
  /([?&](?:[\w-]*(?:token|secret|password|passwd|api_?key|signature|access_?key))=)[^&#\s"\\]+/gi;
/** Hides who is logged in where: userinfo in URLs, and parameters that are named like secrets. */
export function redactText(text) {
  return text.replace(userinfo, '$1***@').replace(secretParameter, '$1***');
}
//# sourceMappingURL=logger.js.map
