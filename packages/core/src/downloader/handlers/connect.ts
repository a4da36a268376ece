import type { X509Certificate } from 'node:crypto';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { buildConnector, Client, Dispatcher } from 'undici';

import type { Crawler } from '../../crawler/crawler.ts';
import { toError } from '../../errors.ts';
import type { Timings } from '../../http/response.ts';
import { AddressPolicy } from './address-policy.ts';
import { ProxyFailure } from './failure.ts';
import { connectSocks, connectTunnel, isSocks, type Proxy, SiteFailure } from './proxy.ts';
import { Resolver } from './resolver.ts';
import { TlsOptions, type TlsSettings } from './tls.ts';
import * as undici from './undici.ts';

/** What is known of an open connection. Times are milliseconds, `openedAt` on the clock of `performance.now()`. */
export interface ConnectionFacts {
  openedAt: number;
  dns: number | undefined;
  connect: number | undefined;
  tls: number | undefined;
  ipAddress: string | undefined;
  protocol: string;
  certificate: X509Certificate | undefined;
  /** Told of what comes on it, with the bytes so far; nobody where several exchanges share it. */
  watcher: { bytesCame(bytesRead: number): void } | undefined;
  bytesRead: number;
}

/** Where a pool connects to. */
export interface Target {
  readonly proxy: Proxy | undefined;
  readonly allowH2: boolean;
  /** Sockets that are not connected yet. */
  readonly connecting: Set<Socket>;
  /** What the last of them is at. */
  phase: string;
  readonly tls: TlsSettings | undefined;
  /** Address of this machine to send from. */
  readonly localAddress: string | undefined;
}

type Options = buildConnector.Options;
/** undici's connector returns the socket that it connects. */
type Connect = (options: Options, callback: buildConnector.Callback) => Socket | undefined;

/** Opens connections: names by the resolver, each address past the policy, proxies on the way. */
export class Connector {
  readonly #timeoutMs: number;
  readonly #policy: AddressPolicy;
  readonly #resolver: Resolver;
  readonly #tls: TlsOptions;
  readonly #slots: Crawler['slots'];
  readonly #connectors = new Map<string, Connect>();

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#slots = crawler.slots;
    this.#timeoutMs = settings.get('DOWNLOAD_TIMEOUT') * 1000;
    this.#policy = new AddressPolicy(crawler);
    this.#resolver = new Resolver(
      settings.get('DNSCACHE_ENABLED') ? settings.get('DNSCACHE_SIZE') : 0,
      settings.get('DNS_TIMEOUT') * 1000,
    );
    this.#tls = new TlsOptions(crawler);
  }

  /** @param isChecked - False for a proxy: the user names it; what it may reach is looked at where the host is an address. */
  #connectorOf(tls: TlsSettings | undefined, allowH2: boolean, isChecked = true): Connect {
    const key = `${allowH2} ${isChecked} ${tls === undefined ? '' : JSON.stringify(tls)}`;
    let connect = this.#connectors.get(key);
    if (connect === undefined) {
      connect = undici.buildConnector({
        timeout: this.#timeoutMs,
        ...this.#tls.of(tls),
        allowH2,
        preferH2: allowH2,
        // A host with a dead IPv6 address is reached by its other one.
        autoSelectFamily: true,
        lookup: this.#lookup(isChecked),
      } as buildConnector.BuildOptions) as unknown as Connect;
      this.#connectors.set(key, connect);
    }
    return connect;
  }

  connect(
    options: Options,
    target: Target,
    facts: ConnectionFacts,
    callback: buildConnector.Callback,
  ): void {
    const start = performance.now();
    const opened: buildConnector.Callback = (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      facts.openedAt = start;
      facts.connect = performance.now() - start - (facts.dns ?? 0) - (facts.tls ?? 0);
      facts.ipAddress = target.proxy ? undefined : socket.remoteAddress;
      const secured = socket as Partial<TLSSocket>;
      facts.protocol = secured.alpnProtocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1';
      // It cannot be asked for once the connection is closed.
      if (options.protocol === 'https:') facts.certificate = secured.getPeerX509Certificate?.();
      callback(null, socket);
    };
    try {
      if (isIP(options.hostname) !== 0 && !this.#policy.allowsAll)
        this.#policy.filter(options.hostname, [{ address: options.hostname }]);
    } catch (thrown) {
      queueMicrotask(() => callback(thrown as Error, null));
      return;
    }
    if (target.proxy) this.#byProxy(options, target, target.proxy, facts, opened);
    else this.#open(this.#connectorOf(target.tls, target.allowH2), options, target, facts, opened);
  }

  #open(
    connect: Connect,
    options: Options,
    target: Target,
    facts: ConnectionFacts,
    callback: buildConnector.Callback,
    to = '',
  ): void {
    const { connecting } = target;
    const start = performance.now();
    let connectedAt = start;
    facts.dns = undefined;
    facts.tls = undefined;
    const isName = isIP(options.hostname) === 0;
    target.phase = `${isName ? 'resolving' : 'connecting'}${to}`;
    const { localAddress } = target;
    const socket = connect({ ...options, localAddress: localAddress ?? null }, (...result) => {
      if (socket) connecting.delete(socket);
      if (options.protocol === 'https:' && result[0] === null)
        facts.tls = performance.now() - connectedAt;
      callback(...result);
    });
    if (!socket) return;
    connecting.add(socket);
    socket.once('lookup', () => {
      facts.dns = performance.now() - start;
      target.phase = `connecting${to}`;
    });
    socket.once('connect', () => {
      connectedAt = performance.now();
      if (options.protocol === 'https:') target.phase = `TLS handshake${to && ' with the proxy'}`;
    });
  }

  #byProxy(
    options: Options,
    target: Target,
    proxy: Proxy,
    facts: ConnectionFacts,
    callback: buildConnector.Callback,
  ): void {
    const { url } = proxy;
    const isTls = url.protocol === 'https:';
    const port = url.port || (isSocks(proxy) ? '1080' : isTls ? '443' : '80');
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const hop = {
      protocol: isTls ? 'https:' : 'http:',
      hostname,
      host: hostname,
      port,
    };
    const fail = (error: unknown): void => callback(new ProxyFailure(url, toError(error)), null);
    const connected: buildConnector.Callback = (...[error, socket]) => {
      if (error !== null) return fail(error);
      // Plain HTTP needs no tunnel: the request names the whole URL.
      if (options.protocol === 'http:' && !isSocks(proxy)) return callback(null, socket);
      // oxlint-disable promise/no-callback-in-promise -- undici takes callbacks
      void this.#through(socket, options, target, proxy).then(
        () => {
          if (options.protocol === 'http:') callback(null, socket);
          else {
            const secured = { ...options, httpSocket: socket };
            target.phase = 'TLS handshake';
            const connect = this.#connectorOf(target.tls, target.allowH2);
            this.#open(connect, secured, target, facts, callback);
          }
        },
        (thrown: unknown) => {
          socket.destroy();
          if (thrown instanceof SiteFailure) callback(thrown, null);
          else fail(thrown);
        },
      );
      // oxlint-enable promise/no-callback-in-promise
    };
    const tls = this.#slots.settingsOf(hostname)?.tls;
    this.#open(
      this.#connectorOf(tls, false, false),
      hop,
      target,
      facts,
      connected,
      ' to the proxy',
    );
  }

  async #through(socket: Socket, options: Options, target: Target, proxy: Proxy): Promise<void> {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const handshake = isSocks(proxy) ? connectSocks : connectTunnel;
    target.connecting.add(socket);
    target.phase = 'waiting for the proxy';
    const timer = setTimeout(
      () => socket.destroy(Object.assign(new Error('the proxy is silent'), { code: 'ETIMEDOUT' })),
      this.#timeoutMs,
    );
    try {
      await handshake(socket, proxy, options.hostname, port);
    } finally {
      clearTimeout(timer);
      target.connecting.delete(socket);
    }
  }

  /** The lookup of a socket: what it gives is what is connected to. */
  #lookup(isChecked: boolean): LookupFunction {
    return (host, { all }, callback) => {
      this.#resolver.resolve(host, (error, addresses) => {
        let granted = addresses;
        let failure: NodeJS.ErrnoException | null = error;
        try {
          if (!failure && isChecked) granted = this.#policy.filter(host, addresses);
        } catch (thrown) {
          failure = thrown as Error;
        }
        if (!failure && granted.length === 0)
          failure = Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
        if (failure) callback(failure, all ? [] : '', 0);
        else if (all) callback(null, [...granted]);
        else callback(null, granted[0]!.address, granted[0]!.family);
      });
    };
  }
}

/** What learns on which connection it is. */
interface Connected {
  connection: ConnectionFacts | undefined;
}

/** One connection of a pool. It tells its requests who they talk to. */
export class Connection extends undici.Client {
  /** It takes no further request for now; set by its pool. */
  isBusy = false;
  readonly #facts: ConnectionFacts;

  constructor(origin: URL, options: Client.Options, connector: Connector, target: Target) {
    const facts = newFacts();
    super(origin, {
      ...options,
      allowH2: target.allowH2,
      connect: (to: Options, callback: buildConnector.Callback) =>
        connector.connect(to, target, facts, (...result) => {
          const [, socket] = result;
          facts.bytesRead = 0;
          if (socket && facts.protocol === 'HTTP/1.1')
            socket.on('readable', () => told(facts, socket));
          callback(...result);
        }),
    });
    this.#facts = facts;
  }

  get protocol(): string {
    return this.#facts.protocol;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    (handler as Dispatcher.DispatchHandler & Connected).connection = this.#facts;
    return super.dispatch(options, handler);
  }
}

function told(facts: ConnectionFacts, { bytesRead }: Socket): void {
  facts.bytesRead = bytesRead;
  facts.watcher?.bytesCame(bytesRead);
}

export function newFacts(): ConnectionFacts {
  return {
    openedAt: 0,
    dns: undefined,
    connect: undefined,
    tls: undefined,
    ipAddress: undefined,
    protocol: 'HTTP/1.1',
    certificate: undefined,
    watcher: undefined,
    bytesRead: 0,
  };
}

/** How long each part of a download took that ends now; times on the clock of `performance.now()`. */
export function timingsOf(
  connection: ConnectionFacts | undefined,
  startedAt: number,
  sentAt: number,
  headersAt: number,
): Timings {
  const firstByte = headersAt - sentAt;
  const body = performance.now() - headersAt;
  // Later requests of a connection did not wait for it to open.
  if (connection === undefined || connection.openedAt < startedAt)
    return { wait: sentAt - startedAt, firstByte, body };
  const { openedAt, dns, connect, tls } = connection;
  return { wait: openedAt - startedAt, dns, connect, tls, firstByte, body };
}
