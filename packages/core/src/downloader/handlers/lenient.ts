import type { Socket } from 'node:net';

import { headersError } from './failure.ts';

/** What a response is told to. */
export interface ResponseSink {
  onStart(status: number, headers: Record<string, string | string[]>): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(error: Error): void;
}

const empty: Buffer = Buffer.alloc(0);

/**
 * Reads one response as browsers do: bare line feeds, folded headers, odd names, one Content-Length said twice. The
 * connection is closed after it, so that nothing can pass for another answer.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9112#section-2.2 | RFC 9112 §2.2}
 */
export class LenientReader {
  readonly #sink: ResponseSink;
  readonly #hasBody: boolean;
  readonly #maxHead: number;
  #buffer: Buffer = empty;
  #state: 'head' | 'length' | 'chunk' | 'data' | 'close' | 'done' = 'head';
  #left = 0;
  #informational = 0;

  constructor(sink: ResponseSink, hasBody: boolean, maxHead: number) {
    this.#sink = sink;
    this.#hasBody = hasBody;
    this.#maxHead = maxHead;
  }

  /** Reads all of `socket`. */
  read(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.push(chunk));
    socket.on('end', () => this.end());
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.end());
    socket.resume();
  }

  push(chunk: Buffer): void {
    if (this.#state === 'done') return;
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    while (this.#buffer.length > 0 && this.#step()) {
      // Goes on as long as there is something to read.
    }
  }

  end(): void {
    if (this.#state === 'close') this.#finish();
    else if (this.#state !== 'done') this.#fail(new Error('the connection was closed too early'));
  }

  /** False if more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead();
      case 'chunk':
        return this.#readChunkSize();
      case 'length':
      case 'data': {
        const part = this.#buffer.subarray(0, this.#left);
        this.#buffer = this.#buffer.subarray(part.length);
        this.#left -= part.length;
        this.#sink.onData(part);
        if (this.#left === 0 && this.#state === 'length') this.#finish();
        else if (this.#left === 0) this.#state = 'chunk';
        return true;
      }
      case 'close':
        this.#sink.onData(this.#buffer);
        this.#buffer = empty;
        return false;
      case 'done':
        return false;
    }
  }

  #readHead(): boolean {
    // An empty line before an answer is passed over.
    while (this.#buffer[0] === 13 || this.#buffer[0] === 10)
      this.#buffer = this.#buffer.subarray(1);
    const text = this.#buffer.subarray(0, this.#maxHead + 1).toString('latin1');
    const end = /\r?\n\r?\n/.exec(text);
    if (end === null) {
      if (text.length > this.#maxHead) this.#fail(headersError());
      return false;
    }
    this.#buffer = this.#buffer.subarray(end.index + end[0].length);
    const [first = '', ...lines] = text
      .slice(0, end.index)
      // A line that starts with a blank goes on with the one before.
      .replace(/\r?\n[ \t]+/g, ' ')
      .split(/\r?\n|\r/);
    const status = Number(/^HTTP\/1\.\d[ \t]+(\d{3})(?:[ \t]|$)/i.exec(first)?.[1] ?? NaN);
    if (Number.isNaN(status)) {
      this.#fail(new Error('the answer is not HTTP/1'));
      return false;
    }
    if (status < 200) {
      if (++this.#informational > 100) this.#fail(new Error('too many informational responses'));
      return true;
    }
    this.#start(status, headersOf(lines));
    return true;
  }

  #start(status: number, headers: Record<string, string | string[]>): void {
    const lengths = new Set(
      [headers['content-length'] ?? []].flat().flatMap((one) => one.split(/\s*,\s*/)),
    );
    const coding = [headers['transfer-encoding'] ?? []].flat().join(',');
    const isChunked = /(?:^|,)\s*chunked\s*$/i.test(coding);
    if (lengths.size > 1 && !isChunked) {
      this.#fail(new Error('two different Content-Lengths'));
      return;
    }
    if (lengths.size === 1) headers['content-length'] = [...lengths][0]!;
    if (isChunked) delete headers['content-length'];
    const length = headers['content-length'];
    this.#sink.onStart(status, headers);
    if ((this.#state as string) === 'done') return;
    if (!this.#hasBody || status === 204 || status === 304) this.#finish();
    else if (isChunked) this.#state = 'chunk';
    else if (typeof length === 'string' && /^\d{1,15}$/.test(length)) {
      this.#left = Number(length);
      if (this.#left === 0) this.#finish();
      else this.#state = 'length';
    } else this.#state = 'close';
  }

  #readChunkSize(): boolean {
    const end = this.#buffer.indexOf(10);
    if (end < 0) {
      if (this.#buffer.length > this.#maxHead) this.#fail(new Error('a chunk has no size'));
      return false;
    }
    const line = this.#buffer.subarray(0, end).toString('latin1').trim();
    this.#buffer = this.#buffer.subarray(end + 1);
    // The line end after the chunk before.
    if (line === '') return true;
    const size = /^[0-9a-f]{1,12}(?=[\s;]|$)/i.exec(line)?.[0];
    if (size === undefined) {
      this.#fail(new Error('a chunk has no size'));
      return false;
    }
    this.#left = parseInt(size, 16);
    if (this.#left === 0) this.#finish();
    else this.#state = 'data';
    return true;
  }

  #finish(): void {
    this.#state = 'done';
    this.#sink.onEnd();
  }

  #fail(error: Error): void {
    if (this.#state === 'done') return;
    this.#state = 'done';
    this.#sink.onFailure(error);
  }
}

function headersOf(lines: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<
    string,
    string | string[]
  >;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line
      .slice(colon + 1)
      .replaceAll('\0', '')
      .trim();
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else headers[name] = [known].flat().concat(value);
  }
  return headers;
}

/** A request without body. @param headers - Names and values in turn, already checked. */
export function requestHead(
  method: string,
  path: string,
  host: string,
  headers: readonly string[],
): string {
  let lines = '';
  let named = false;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'connection') continue;
    if (headers[i] === 'host') named = true;
    lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  }
  return `${method} ${path} HTTP/1.1\r\n${named ? '' : `host: ${host}\r\n`}${lines}connection: close\r\n\r\n`;
}
