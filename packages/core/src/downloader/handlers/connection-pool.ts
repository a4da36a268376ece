import type { Client, Dispatcher } from 'undici';

import { Connection, type Connector, type Target } from './connect.ts';
import type { Exchange } from './exchange.ts';

export interface ConnectionPoolOptions extends Client.Options {
  /** Most at once; null is no bound. */
  readonly connections: number | null;
}

interface Waiting {
  readonly options: Dispatcher.DispatchOptions;
  readonly exchange: Exchange;
}

/**
 * The connections to one origin. undici has a pool too, which sets 16 kB aside for those that wait: for each origin of
 * each crawler, where the slot lets hardly anybody wait here.
 */
export class ConnectionPool {
  readonly #origin: URL;
  readonly #options: Client.Options;
  readonly #most: number;
  readonly #connector: Connector;
  readonly #target: Target;
  readonly #connections: Connection[] = [];
  readonly #waiting: Waiting[] = [];
  /** Where HTTP/2 may be agreed on, the first connection tells whether more are needed. */
  #probe: Connection | undefined;

  constructor(
    origin: string,
    { connections, ...options }: ConnectionPoolOptions,
    connector: Connector,
    target: Target,
  ) {
    this.#origin = new URL(origin);
    this.#options = options;
    this.#most = connections ?? Infinity;
    this.#connector = connector;
    this.#target = target;
  }

  /** Sends a request on a connection that is free, on a new one, or when one is. */
  dispatch(options: Dispatcher.DispatchOptions, exchange: Exchange): void {
    const connection = this.#pick();
    if (connection === undefined) this.#waiting.push({ options, exchange });
    else connection.isBusy = !connection.dispatch(options, exchange);
  }

  /** Breaks off all connections, and what waits for one. */
  async destroy(): Promise<void> {
    const closed = Object.assign(new Error('the connections are closed'), { code: 'ECONNABORTED' });
    for (const { exchange } of this.#waiting.splice(0)) exchange.fail(closed);
    await Promise.all(this.#connections.splice(0).map((connection) => connection.destroy()));
  }

  #pick(): Connection | undefined {
    const free = this.#connections.find((connection) => !connection.isBusy);
    if (free !== undefined) return free;
    if (this.#probe !== undefined || this.#connections.length >= this.#most) return undefined;
    return this.#open();
  }

  #open(): Connection {
    const connection = new Connection(this.#origin, this.#options, this.#connector, this.#target);
    this.#connections.push(connection);
    connection.on('drain', () => {
      connection.isBusy = false;
      this.#known(connection);
    });
    connection.on('connectionError', () => {
      // What it was to send has failed with it.
      const at = this.#connections.indexOf(connection);
      if (at >= 0) this.#connections.splice(at, 1);
      void connection.destroy();
      this.#known(connection);
    });
    if (this.#target.allowH2) {
      this.#probe = connection;
      // With HTTP/2 it soon says that it takes more, and no other is needed.
      connection.on('connect', () => {
        if (connection.protocol !== 'HTTP/2') this.#known(connection);
      });
      connection.on('disconnect', () => this.#known(connection));
    }
    return connection;
  }

  /** It is known what this connection can take, or that it can nothing. */
  #known(connection: Connection): void {
    if (this.#probe === connection) this.#probe = undefined;
    this.#serve();
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      if (this.#waiting[0]!.exchange.isSettled) {
        this.#waiting.shift();
        continue;
      }
      const connection = this.#pick();
      if (connection === undefined) return;
      const { options, exchange } = this.#waiting.shift()!;
      connection.isBusy = !connection.dispatch(options, exchange);
    }
  }
}
