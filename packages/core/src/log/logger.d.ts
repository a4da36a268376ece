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
  /** Called with the level of each record that is written. */
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
  readonly destination?: {
    write(line: string): void;
  };
  /** Hide passwords and tokens. */
  readonly redact?: boolean;
}
/** Makes the log of a process: JSON lines by pino, or the same as text for people. */
export declare function createLogger(options?: LogOptions): RootLogger;
/** The text with everything that is not printable as an escape. */
export declare function oneLine(text: string): string;
/** Hides who is logged in where: userinfo in URLs, and parameters that are named like secrets. */
export declare function redactText(text: string): string;
//# sourceMappingURL=logger.d.ts.map
