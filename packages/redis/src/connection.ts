import type { ConnectionOptions } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { LycosaError, type Settings, SettingsError } from 'lycosa';

declare module 'lycosa' {
  interface SettingsMap {
    /** `redis://user:password@host:6379/0`, `rediss://…` with TLS, `unix:///path?db=0&password=…`; comes before host and port. */
    REDIS_URL: string | undefined;
    /** `localhost` if absent. */
    REDIS_HOST: string | undefined;
    /** 6379 if absent. */
    REDIS_PORT: number | undefined;
    /** More options of the connection, by ioredis' names: `{ username, password, db, tls, … }`. They win. */
    REDIS_PARAMS: Readonly<Record<string, unknown>> | undefined;
    /** Seconds in which Redis must be reached; 5 if absent. */
    REDIS_CONNECT_TIMEOUT: number | undefined;
    /** Refuse a Redis that may throw keys away when its memory is full; true if absent. */
    REDIS_REQUIRE_NOEVICTION: boolean | undefined;
  }
}

/** Where Redis is, and what is asked of it. */
export interface RedisConnectOptions {
  /** `redis:`, `rediss:` or `unix:`; comes before host and port. */
  readonly url?: string;
  /** `localhost` by default. */
  readonly host?: string;
  /** 6379 by default. */
  readonly port?: number;
  /** More options of the connection, by ioredis' names. They win. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Milliseconds in which Redis must be reached; 5000 by default. */
  readonly timeoutMs?: number;
  /** Refuse any `maxmemory-policy` but `noeviction`; true by default. */
  readonly requireNoeviction?: boolean;
  /** Told once each time the connection is lost; it comes back by itself. */
  readonly onLost?: (error: Error) => void;
}

/** Redis cannot be reached, or is not fit for use. Code `ERR_REDIS_CONNECTION`. */
export class RedisConnectionError extends LycosaError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_REDIS_CONNECTION', message, options);
  }
}

/** Milliseconds between two tries to connect, while a Redis that is just starting may come up. */
const retryMs = 100;
/** Milliseconds that a closed socket may linger; ioredis keeps the process as long. */
const goodbyeMs = 100;
/** Milliseconds that a goodbye may take. */
const quitMs = 2000;
/** These do not change by trying again. */
const final = /^(WRONGPASS|NOAUTH|NOPERM|ERR)\b/;

/**
 * The connection as `REDIS_URL`, `REDIS_HOST`, `REDIS_PORT` and `REDIS_PARAMS` describe it.
 *
 * @throws SettingsError when one of them cannot be.
 */
export function redisOptions(settings: Pick<Settings, 'get'>): RedisConnectOptions {
  const url = settings.get('REDIS_URL') || undefined;
  const port = numberOf('REDIS_PORT', settings.get('REDIS_PORT') ?? 6379, 1, 65_535);
  const seconds = settings.get('REDIS_CONNECT_TIMEOUT') ?? 5;
  const requireNoeviction = settings.get('REDIS_REQUIRE_NOEVICTION') ?? true;
  if (url !== undefined) parseUrl(url);
  return {
    ...(url !== undefined && { url }),
    host: settings.get('REDIS_HOST') || 'localhost',
    port,
    params: paramsOf(settings.get('REDIS_PARAMS') ?? {}),
    timeoutMs: numberOf('REDIS_CONNECT_TIMEOUT', seconds, 0.001, 86_400) * 1000,
    requireNoeviction: flagOf('REDIS_REQUIRE_NOEVICTION', requireNoeviction),
  };
}

/**
 * Connects to Redis, trying again until the time is up.
 *
 * @throws RedisConnectionError when Redis was not reached in time, refused us, or may evict keys.
 * @throws SettingsError when the URL is none.
 */
export async function connectRedis(options: RedisConnectOptions = {}): Promise<RedisConnection> {
  const { timeoutMs = 5000, requireNoeviction = true } = options;
  const where = target(options);
  const state: ConnectState = { isOpen: false, isLost: false, lastError: undefined };
  const client = new Redis({
    ...where,
    lazyConnect: true,
    disconnectTimeout: goodbyeMs,
    connectTimeout: timeoutMs,
    // Until the first success we try again ourselves; later losses heal by themselves.
    retryStrategy: (times) => (state.isOpen ? Math.min(times * 100, 2000) : null),
    ...(options.params as RedisOptions | undefined),
  });
  const name = nameOf(where, options.params);
  client.on('error', (error: Error) => {
    state.lastError = error;
    if (state.isOpen && !state.isLost) options.onLost?.(error);
    state.isLost = state.isOpen;
  });
  client.on('ready', () => {
    state.isLost = false;
  });
  try {
    await inTime(open(client, state, requireNoeviction, name), timeoutMs);
  } catch (error) {
    client.disconnect();
    if (error instanceof RedisConnectionError) throw error;
    throw unreachable(name, timeoutMs, state.lastError ?? error);
  } finally {
    state.isOpen = true;
  }
  return new RedisConnection(client, name);
}

interface ConnectState {
  isOpen: boolean;
  isLost: boolean;
  lastError: Error | undefined;
}

async function open(
  client: Redis,
  state: ConnectState,
  requireNoeviction: boolean,
  name: string,
): Promise<void> {
  for (;;) {
    try {
      await client.connect();
      break;
    } catch (thrown) {
      const error = state.lastError ?? (thrown as Error);
      if (final.test(error.message)) throw refused(name, error);
      await sleep(retryMs);
      // The time was up while we slept.
      if (state.isOpen) throw error;
    }
  }
  if (requireNoeviction) await checkPolicy(client, name);
}

/** @internal The same connection, as the queue of the fleet asks for it. */
export function clientOptions(options: RedisConnectOptions): ConnectionOptions {
  // BullMQ describes ioredis' options once more, in types of its own.
  return {
    ...target(options),
    disconnectTimeout: goodbyeMs,
    ...options.params,
  } as unknown as ConnectionOptions;
}

/** A Redis that evicts keys would lose requests without a word. */
async function checkPolicy(client: Redis, name: string): Promise<void> {
  let info: string;
  try {
    // INFO, as hosted Redis often forbids CONFIG.
    info = await client.info('memory');
  } catch (error) {
    throw refused(name, error as Error);
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  if (policy === 'noeviction') return;
  throw new RedisConnectionError(
    `Redis at ${name} has maxmemory-policy ${policy} and may throw requests away when its memory is full. ` +
      'Run `redis-cli config set maxmemory-policy noeviction`, or accept the loss with REDIS_REQUIRE_NOEVICTION=false.',
  );
}

function refused(name: string, error: Error): RedisConnectionError {
  // No cause: Redis' errors carry the command, and so the password, with them.
  return new RedisConnectionError(
    `Redis at ${name} refused us: ${error.message}. Check user, password and database in REDIS_URL or REDIS_PARAMS.`,
  );
}

function unreachable(name: string, timeoutMs: number, thrown: unknown): RedisConnectionError {
  const cause = thrown instanceof Error && 'errno' in thrown ? thrown : undefined;
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new RedisConnectionError(
    `Redis at ${name} could not be reached within ${timeoutMs / 1000} s${why ? ` (${why})` : ''}. ` +
      'Start it, or set REDIS_URL (redis://host:6379/0).',
    cause && { cause },
  );
}

/** An open connection to Redis. Closed by `close()`, or by itself with `await using`. */
export class RedisConnection implements AsyncDisposable {
  /** @internal The client of this package's other files. */
  readonly client: Redis;
  /** Where it leads, without the password. */
  readonly url: string;
  #closed: Promise<void> | undefined;

  /** @internal Use `connectRedis()`. */
  constructor(client: Redis, url: string) {
    this.client = client;
    this.url = url;
  }

  get isReady(): boolean {
    return this.#closed === undefined && this.client.status === 'ready';
  }

  /** Sends any command; what Redis answers. */
  call(command: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    return this.client.call(command, ...args);
  }

  /** What the server should be set to and is not, in sentences. */
  async warnings(): Promise<string[]> {
    // Hosted Redis may not tell.
    const info = await this.client.info('persistence').catch(() => '');
    if (!/^aof_enabled:0/m.test(info)) return [];
    return [
      `Redis at ${this.url} does not write to disk what it is told (appendonly no): after a crash it has lost orders. ` +
        'Run `redis-cli config set appendonly yes`, and set it in redis.conf.',
    ];
  }

  /** Waits for the answers under way, then closes. Never throws; a second call waits for the first. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { client } = this;
    // A goodbye to a Redis that is away would wait for its return.
    if (client.status === 'ready') {
      const ended = new Promise((resolve) => client.once('end', resolve));
      // Without a goodbye it is gone all the same.
      await inTime(
        client.quit().then(() => ended),
        quitMs,
      ).catch(() => {});
    }
    client.disconnect();
  }
}

function target(options: RedisConnectOptions): RedisOptions {
  if (options.url !== undefined) return parseUrl(options.url);
  return { host: options.host ?? 'localhost', port: options.port ?? 6379 };
}

/** @throws SettingsError, without the text: it may hold a password. */
function parseUrl(text: string): RedisOptions {
  const url = URL.parse(text.startsWith('/') ? `unix://${text}` : text);
  if (!url || !['redis:', 'rediss:', 'unix:'].includes(url.protocol)) {
    throw new SettingsError(
      'REDIS_URL is no Redis URL. Write redis://user:password@host:6379/0, rediss://… for TLS, or unix:///path/to/socket.',
    );
  }
  const isSocket = url.protocol === 'unix:';
  // The URL of a socket has no place for them but its query.
  const username = decodeURIComponent(url.username) || url.searchParams.get('username');
  const password = decodeURIComponent(url.password) || url.searchParams.get('password');
  const db = (isSocket ? null : url.pathname.slice(1)) || url.searchParams.get('db') || undefined;
  return {
    ...(isSocket
      ? { path: decodeURIComponent(url.pathname) }
      : {
          host: url.hostname.replace(/^\[|\]$/g, '') || 'localhost',
          port: url.port === '' ? 6379 : Number(url.port),
        }),
    ...(username && { username }),
    ...(password && { password }),
    ...(db !== undefined && { db: numberOf('The database in REDIS_URL', db, 0, 1e6) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
  };
}

/** Where it leads, as it may be shown. */
function nameOf(where: RedisOptions, params: RedisConnectOptions['params']): string {
  const { host, port, path, db, tls } = { ...where, ...(params as RedisOptions | undefined) };
  if (path !== undefined) return `unix://${path}${db ? `?db=${db}` : ''}`;
  const name = host?.includes(':') ? `[${host}]` : host;
  return `${tls ? 'rediss' : 'redis'}://${name}:${port}${db ? `/${db}` : ''}`;
}

/** Text from a command line becomes a number here: the core does not know our settings. */
export function numberOf(name: string, value: unknown, least: number, most: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && number >= least && number <= most) return number;
  throw new SettingsError(
    `${name} must be a number from ${least} to ${most}, got ${JSON.stringify(value)}.`,
  );
}

export function flagOf(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (/^(true|1)$/i.test(String(value))) return true;
  if (/^(false|0)$/i.test(String(value))) return false;
  throw new SettingsError(`${name} must be true or false, got ${JSON.stringify(value)}.`);
}

/** @throws SettingsError, without the text: it may hold a password. */
function paramsOf(value: unknown): Readonly<Record<string, unknown>> {
  let params = value;
  try {
    if (typeof value === 'string') params = JSON.parse(value);
  } catch {
    params = undefined;
  }
  if (typeof params === 'object' && params !== null && !Array.isArray(params)) {
    return params as Readonly<Record<string, unknown>>;
  }
  throw new SettingsError(
    'REDIS_PARAMS must be an object of ioredis options, or the same as JSON: {"password": "…", "db": 1}.',
  );
}

/** Rejects when `promise` takes longer; what becomes of it then is not asked. */
async function inTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
