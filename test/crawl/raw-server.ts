import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A TCP server that answers each request with whatever bytes a test wants. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Requests seen: first lines and headers. */
  readonly requests: readonly string[];
  /** Sockets open now. */
  readonly open: number;
  /** Resolves when no socket is open. */
  whenQuiet(): Promise<void>;
}

/** What a socket gets for the `count`-th request of the server, from 0. */
export type Answer = (socket: Socket, request: string, count: number) => void;

export async function startRaw(answer: Answer, host = '127.0.0.1'): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const request = text.slice(0, end);
        text = text.slice(end + 4);
        requests.push(request);
        answer(socket, request, requests.length - 1);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/`,
    port,
    requests,
    get open() {
      return sockets.size;
    },
    async whenQuiet() {
      while (sockets.size > 0) await sleep(5);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes `bytes` again and again until the socket is closed. */
export function repeat(socket: Socket, bytes: string | Buffer, ms: number): void {
  const timer = setInterval(() => socket.write(bytes), ms);
  socket.on('close', () => clearInterval(timer));
}

/** Writes `bytes` as fast as the socket takes them, until it is closed. */
export function flood(socket: Socket, bytes: string | Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes)) {
      // As much as fits.
    }
  };
  socket.on('drain', more);
  more();
}
