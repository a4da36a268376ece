import { UsageError } from '../errors.ts';
import { Headers } from './headers.ts';
import type { Request, RequestOptions } from './request.ts';

/** Options that change nothing of the request, without a value. */
const ignored = new Set(
  '-k --insecure -L --location -s --silent -S --show-error -v --verbose -i --include -f --fail -# --progress-bar -N --no-buffer -g --globoff --compressed --http1.1 --http2 --http1.0 -0 --http3 -4 --ipv4 -6 --ipv6 --location-trusted --path-as-is --no-keepalive --tlsv1.2 --tlsv1.3'.split(
    ' ',
  ),
);
/** Options that change nothing of the request, with a value. */
const ignoredWithValue = new Set(
  '-o --output --connect-timeout --retry --retry-delay --retry-max-time --max-redirs -w --write-out --limit-rate -c --cookie-jar --ciphers --cacert'.split(
    ' ',
  ),
);

const names: Readonly<Record<string, string>> = {
  '-X': '--request',
  '-H': '--header',
  '-d': '--data',
  '-u': '--user',
  '-b': '--cookie',
  '-A': '--user-agent',
  '-e': '--referer',
  '-G': '--get',
  '-I': '--head',
  '-m': '--max-time',
  '-x': '--proxy',
  '--data-ascii': '--data',
};

/** What the options of a command say so far. */
interface Draft {
  url?: string;
  method?: string;
  readonly headers: [string, string][];
  readonly data: string[];
  readonly options: RequestOptions;
  isGet?: boolean;
}

const withValue: Readonly<Record<string, (draft: Draft, value: string) => void>> = {
  '--url': setUrl,
  '--request': (draft, value) => void (draft.method = value),
  '--header': (draft, value) => {
    const colon = value.indexOf(':');
    // `Name:` takes a header out and `Name;` sends it empty.
    if (colon < 0 && value.endsWith(';')) draft.headers.push([value.slice(0, -1), '']);
    else if (colon > 0 && value.slice(colon + 1).trim() !== '')
      draft.headers.push([value.slice(0, colon).trim(), value.slice(colon + 1).trim()]);
  },
  '--data': (draft, value) => void draft.data.push(noFile(value).replace(/[\r\n]/g, '')),
  '--data-binary': (draft, value) => void draft.data.push(noFile(value)),
  '--data-raw': (draft, value) => void draft.data.push(value),
  '--data-urlencode': (draft, value) => {
    const equals = value.indexOf('=');
    const text = encodeURIComponent(noFile(value.slice(equals + 1)));
    draft.data.push(equals > 0 ? `${value.slice(0, equals)}=${text}` : text);
  },
  '--json': (draft, value) => {
    draft.data.push(noFile(value));
    draft.headers.push(['Content-Type', 'application/json'], ['Accept', 'application/json']);
  },
  '--user': (draft, value) => {
    draft.headers.push([
      'Authorization',
      `Basic ${Buffer.from(value.includes(':') ? value : `${value}:`).toString('base64')}`,
    ]);
  },
  '--cookie': (draft, value) => {
    if (!value.includes('=')) throw new UsageError('curl -b with a file cannot be turned.');
    addCookies(draft, value);
  },
  '--user-agent': (draft, value) => void draft.headers.push(['User-Agent', value]),
  '--referer': (draft, value) => void draft.headers.push(['Referer', value.replace(/;auto$/, '')]),
  '--max-time': (draft, value) => {
    draft.options.meta = { ...draft.options.meta, downloadTimeout: Number(value) };
  },
  '--proxy': (draft, value) => {
    draft.options.meta = { ...draft.options.meta, proxy: value };
  },
};

/** What a curl command asks for. @throws UsageError for what is none, and for options whose meaning is not known. */
export function readCurl(command: string): RequestOptions & { readonly url: string } {
  const words = shellWords(command.trim());
  if (words.shift() !== 'curl') throw new UsageError('A curl command begins with curl.');
  const draft: Draft = { headers: [], data: [], options: {} };
  while (words.length > 0) takeWord(words.shift()!, words, draft);
  if (draft.url === undefined) throw new UsageError('The curl command names no URL.');
  const headers = new Headers();
  for (const [name, value] of draft.headers) {
    if (name.toLowerCase() === 'cookie') addCookies(draft, value);
    else if (!headers.has(name)) headers.set(name, value);
  }
  const data = draft.data.length > 0 ? draft.data.join('&') : undefined;
  const isQuery = data !== undefined && draft.isGet === true;
  const body = isQuery ? undefined : data;
  if (body !== undefined) headers.setDefault('content-type', 'application/x-www-form-urlencoded');
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(draft.url) ? draft.url : `http://${draft.url}`;
  return {
    url: isQuery ? `${url}${url.includes('?') ? '&' : '?'}${data}` : url,
    method: draft.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: headers.size > 0 ? headers : undefined,
    body,
    ...draft.options,
  };
}

/** The curl command that sends a request, for a POSIX shell. */
export function writeCurl(request: Request): string {
  const words = ['curl', '-X', request.method, quote(request.url)];
  for (const [name, value] of request.hasHeaders ? request.headers : []) {
    words.push('-H', quote(value === '' ? `${name};` : `${name}: ${value}`));
  }
  const { cookies, body } = request;
  if (cookies !== undefined) {
    const pairs = Array.isArray(cookies)
      ? cookies.map(({ name, value }: { name: string; value: string }) => `${name}=${value}`)
      : Object.entries(cookies).map(([name, value]) => `${name}=${String(value)}`);
    if (pairs.length > 0) words.push('-b', quote(pairs.join('; ')));
  }
  if (body !== undefined && body.length > 0) {
    words.push('--data-raw', quote(Buffer.from(body).toString()));
  }
  return words.join(' ');
}

function takeWord(word: string, rest: string[], draft: Draft): void {
  if (!word.startsWith('-') || word === '-') return setUrl(draft, word);
  const [option, glued] = splitOption(word);
  const name = names[option] ?? option;
  if (ignored.has(name)) {
    // `-sSL` is three options.
    if (glued !== undefined && !word.startsWith('--')) takeWord(`-${glued}`, rest, draft);
    return;
  }
  if (name === '--get') draft.isGet = true;
  else if (name === '--head') draft.method ??= 'HEAD';
  else {
    const set = Object.hasOwn(withValue, name) ? withValue[name] : undefined;
    if (set === undefined && !ignoredWithValue.has(name)) {
      throw new UsageError(`The curl option ${option} is not known here. Take it out.`);
    }
    const value = glued ?? rest.shift();
    if (value === undefined) throw new UsageError(`The curl option ${option} lacks its value.`);
    set?.(draft, value);
    return;
  }
  if (glued !== undefined) takeWord(`-${glued}`, rest, draft);
}

function splitOption(word: string): [string, string | undefined] {
  if (word.startsWith('--')) return [word, undefined];
  // `-XPOST` is `-X POST`.
  return [word.slice(0, 2), word.length > 2 ? word.slice(2) : undefined];
}

function setUrl(draft: Draft, url: string): void {
  if (draft.url !== undefined) {
    throw new UsageError('The curl command names more than one URL: one command is one request.');
  }
  draft.url = url;
}

function addCookies(draft: Draft, text: string): void {
  const cookies: Record<string, string> = {};
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) cookies[part.slice(0, equals).trim()] = part.slice(equals + 1).trim();
  }
  draft.options.cookies = { ...(draft.options.cookies as Record<string, string>), ...cookies };
}

function noFile(value: string): string {
  if (!value.startsWith('@')) return value;
  throw new UsageError(`The curl command sends the file ${value.slice(1)}. Pass its text as body.`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' };

/** The words of a command as a POSIX shell splits them; `$'…'` too. Nothing is expanded. */
function shellWords(command: string): string[] {
  const words: string[] = [];
  const piece =
    /\s+|\\\r?\n|\\([^])|'([^']*)'|\$'((?:\\[^]|[^'\\])*)'|\$?"((?:\\[^]|[^"\\])*)"|([^\s'"\\])/y;
  let word: string | undefined;
  while (piece.lastIndex < command.length) {
    const found = piece.exec(command);
    if (found === null) throw new UsageError('A quote in the curl command is not closed.');
    const [whole, escaped, single, ansi, double, plain] = found;
    if (/^\s/.test(whole)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (!/^\\\r?\n$/.test(whole)) {
      word =
        (word ?? '') +
        (escaped ??
          single ??
          (ansi === undefined ? undefined : unescapeAnsi(ansi)) ??
          double?.replace(/\\(?:\r?\n|([$`"\\]))/g, '$1') ??
          plain ??
          '');
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

function unescapeAnsi(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|x([0-9a-f]{1,2})|([^]))/gi,
    (_, u?: string, wide?: string, x?: string, char?: string) => {
      const hex = u ?? wide ?? x;
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
      return escapes[char!] ?? char!;
    },
  );
}
