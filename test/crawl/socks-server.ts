import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A SOCKS5 server of RFC 1928 and 1929 that sends all names to 127.0.0.1. */
export async function startSocks(
  login?: string,
): Promise<AsyncDisposable & { port: number; seen: string[] }> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let state: 'hello' | 'login' | 'connect' = 'hello';
    const onData = (bytes: Buffer): void => {
      if (state === 'hello') {
        const offers = [...bytes.subarray(2, 2 + bytes[1]!)];
        const wanted = login === undefined ? 0 : 2;
        if (!offers.includes(wanted)) return void socket.end(Buffer.from([5, 255]));
        state = login === undefined ? 'connect' : 'login';
        socket.write(Buffer.from([5, wanted]));
      } else if (state === 'login') {
        const user = bytes.subarray(2, 2 + bytes[1]!).toString();
        const pass = bytes.subarray(3 + bytes[1]!).toString();
        state = 'connect';
        socket.write(Buffer.from([1, `${user}:${pass}` === login ? 0 : 1]));
      } else {
        socket.off('data', onData);
        const isName = bytes[3] === 3;
        const host = isName
          ? bytes.subarray(5, 5 + bytes[4]!).toString()
          : [...bytes.subarray(4, 8)].join('.');
        const port = bytes.readUInt16BE(bytes.length - 2);
        seen.push(`${host}:${port}`);
        const to = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
          socket.pipe(to).pipe(socket);
        });
        to.on('error', () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
      }
    };
    socket.on('data', onData);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
