import type { Socket } from 'node:net';

import { flood, repeat } from './raw-server.ts';

/** Twenty ways to keep a client busy. */
export const hung: readonly (readonly [name: string, act: (socket: Socket) => void])[] = [
  ['silence', () => {}],
  ['status line drip', (socket) => repeat(socket, 'H', 50)],
  [
    'header drip',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-A: ');
      repeat(socket, 'a', 20);
    },
  ],
  [
    'one header after the other',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      repeat(socket, 'X-A: a\r\n', 20);
    },
  ],
  [
    'body drip with a length',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
      repeat(socket, 'a', 20);
    },
  ],
  [
    'body drip without length',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      repeat(socket, 'a', 20);
    },
  ],
  [
    'chunk drip',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      repeat(socket, '1\r\na\r\n', 20);
    },
  ],
  [
    'headers and then nothing',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'),
  ],
  [
    'chunk size and then nothing',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n'),
  ],
  ['flood of 103 responses', (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['drip of 100 responses', (socket) => repeat(socket, 'HTTP/1.1 100 Continue\r\n\r\n', 20)],
  [
    'endless reason',
    (socket) => {
      socket.write('HTTP/1.1 200 ');
      flood(socket, 'a'.repeat(1000));
    },
  ],
  [
    'endless header',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-A: ');
      flood(socket, 'a'.repeat(1000));
    },
  ],
  [
    'endless headers',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, 'X-A: a\r\n');
    },
  ],
  [
    'endless chunk extension',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;');
      flood(socket, 'a'.repeat(1000));
    },
  ],
  [
    'endless chunk size',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      flood(socket, '0'.repeat(1000));
    },
  ],
  [
    'endless trailers',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n');
      flood(socket, 'X-A: a\r\n');
    },
  ],
  [
    'endless body',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      flood(socket, 'a'.repeat(10_000));
    },
  ],
  ['reset', (socket) => socket.resetAndDestroy()],
  ['end without an answer', (socket) => socket.end()],
];

/** Two that are done at once, but not as they should be. */
export const odd: readonly (readonly [name: string, act: (socket: Socket) => void])[] = [
  ['short body', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly')],
  [
    'two answers',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'.repeat(2)),
  ],
];
