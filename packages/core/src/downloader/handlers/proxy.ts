import { isIP, type Socket } from 'node:net';

/** Most bytes of a proxy's answer to CONNECT. */
const maxReply = 16_384;

/** A proxy and what it wants to see. */
export interface Proxy {
  readonly url: URL;
  /** Value of Proxy-Authorization; for SOCKS, user and password are in it too. */
  readonly authorization: string | undefined;
}

/** The proxy did its part, and says that the site does not let itself be reached. */
export class SiteFailure extends Error {
  readonly code: string;

  constructor(message: string, isRefused: boolean) {
    super(message);
    this.code = isRefused ? 'ECONNREFUSED' : 'EHOSTUNREACH';
  }
}

/** True for `socks5:` and its kin. */
export function isSocks(proxy: Proxy): boolean {
  return proxy.url.protocol.startsWith('socks');
}

/**
 * Asks an HTTP proxy for a tunnel.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6 | RFC 9110 §9.3.6}
 */
export async function connectTunnel(
  socket: Socket,
  proxy: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const authorization = proxy.authorization
    ? `Proxy-Authorization: ${proxy.authorization}\r\n`
    : '';
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`, 'latin1');
  const head = await read(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0 && bytes.length > maxReply) throw new Error('its answer has no end');
    return end < 0 ? undefined : end + 4;
  });
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1'))?.[1];
  if (status === undefined) throw new Error('its answer is not HTTP');
  if (!status.startsWith('2')) throw new Error(`it answered CONNECT with status ${status}`);
}

/**
 * Asks a SOCKS5 proxy for a connection. The proxy resolves names.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc1928 | RFC 1928} and RFC 1929
 */
export async function connectSocks(
  socket: Socket,
  proxy: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const login = loginOf(proxy);
  socket.write(Buffer.from(login ? [5, 2, 0, 2] : [5, 1, 0]));
  const [version, method] = await read(socket, (bytes) => atLeast(bytes, 2));
  if (version !== 5) throw new Error('it does not speak SOCKS5');
  if (method === 2 && login) {
    socket.write(Buffer.concat([Buffer.from([1]), counted(login.user), counted(login.password)]));
    const [, status] = await read(socket, (bytes) => atLeast(bytes, 2));
    if (status !== 0) throw new Error('it does not accept the user and password');
  } else if (method !== 0) throw new Error('it wants another kind of authentication');
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), socksAddress(host), uint16(port)]));
  const reply = await read(socket, (bytes) => {
    if (bytes.length < 5) return undefined;
    const length = bytes[3] === 1 ? 4 : bytes[3] === 4 ? 16 : 1 + bytes[4]!;
    return atLeast(bytes, 4 + length + 2);
  });
  const status = reply[1]!;
  if (status === 0) return;
  const why = `no connection: ${socksReplies[status] ?? 'refused'}`;
  if (status >= 3 && status <= 6) throw new SiteFailure(why, status === 5);
  throw new Error(why);
}

const socksReplies: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'not allowed by its rules',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'time to live expired',
  7: 'command not supported',
  8: 'kind of address not supported',
};

function loginOf({ authorization }: Proxy): { user: string; password: string } | undefined {
  if (!authorization?.startsWith('Basic ')) return undefined;
  const text = Buffer.from(authorization.slice(6), 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function socksAddress(host: string): Buffer {
  const family = isIP(host);
  if (family === 4) return Buffer.from([1, ...host.split('.').map(Number)]);
  // An IPv6 address goes as a name: every server that resolves names takes it.
  return Buffer.concat([Buffer.from([3]), counted(host)]);
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length & 255]), bytes.subarray(0, 255)]);
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}

function atLeast(bytes: Buffer, length: number): number | undefined {
  return bytes.length < length ? undefined : length;
}

/** Reads until `measure` knows how many bytes belong to the reply; the rest stays in the socket. */
function read(socket: Socket, measure: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const end = (): void => {
      socket.off('data', onData);
      socket.off('error', onError);
      socket.off('close', onClose);
      socket.pause();
    };
    const onError = (error: Error): void => {
      end();
      reject(error);
    };
    const onClose = (): void => onError(new Error('it closed the connection'));
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      let length: number | undefined;
      try {
        length = measure(bytes);
      } catch (thrown) {
        onError(thrown as Error);
        return;
      }
      if (length === undefined) return;
      end();
      if (bytes.length > length) socket.unshift(bytes.subarray(length));
      resolve(bytes.subarray(0, length));
    };
    socket.on('data', onData);
    socket.on('error', onError);
    socket.on('close', onClose);
    socket.resume();
  });
}
