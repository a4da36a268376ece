import type { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';

import type { CheerioAPI } from 'cheerio';
import type { Document } from 'domhandler';

import { NotSupportedError, UsageError } from '../errors.ts';
import { defaultLimits, type TreeLimits } from '../selector/limits.ts';
import type { Link } from '../selector/link-extractor.ts';
import { forgetIndex } from '../selector/page-tree.ts';
import { Selector, type SelectorList } from '../selector/selector.ts';
import { parseTree } from '../selector/tree.ts';
import type { XPathOptions } from '../selector/xpath.ts';
import { declaredEncoding, decode, detectEncoding } from './encoding.ts';
import { Headers, type HeadersInput } from './headers.ts';
import { type Json, Request, type RequestMeta, type RequestOptions } from './request.ts';
import { resolveUrl, trimHtml } from './url.ts';

/** How long each part of a download took, in milliseconds. What a kept connection did not need is absent. */
export interface Timings {
  /** Until a connection was free, or another one was begun. */
  readonly wait?: number | undefined;
  /** Name resolution; absent for an address, and where a proxy resolves. */
  readonly dns?: number | undefined;
  /** The connection, by the way of a proxy where there is one. */
  readonly connect?: number | undefined;
  readonly tls?: number | undefined;
  /** From the written request to the response headers. */
  readonly firstByte?: number | undefined;
  readonly body?: number | undefined;
}

export interface ResponseInit {
  readonly status?: number;
  readonly headers?: HeadersInput;
  /** Headers as the wire gave them, made into `Headers` when asked for. */
  readonly wireHeaders?: Readonly<Record<string, string | string[] | undefined>>;
  /** Content-decoded bytes. */
  readonly body?: Uint8Array;
  readonly path?: string | undefined;
  readonly request?: Request;
  readonly flags?: readonly string[];
  readonly protocol?: string | undefined;
  readonly ipAddress?: string | undefined;
  readonly certificate?: X509Certificate | undefined;
  readonly timings?: Timings;
}

const requireHere = createRequire(import.meta.url);
const empty = Buffer.alloc(0);
const unset = Symbol('unset');
/** Characters in which `<base>` is looked for: it belongs into the head. */
const headLength = 8192;
/** Browsers that run scripts, and their users' links, do not see what is inside of `<noscript>`. */
const baseQuery = 'base[href]:not(noscript base)';

/** What came back. Text, JSON and selectors are made when asked for and kept. */
export class Response {
  readonly url: string;
  readonly status: number;
  /** Raw bytes after content decoding. */
  readonly body: Buffer;
  /** The file that the body is in; `meta.downloadTo` asked for it. `body` is empty then. */
  readonly path: string | undefined;
  /** `cached`, `dataloss`, `truncated`, `download_stopped`. */
  readonly flags: readonly string[];
  /** `HTTP/1.1` or `HTTP/2`; what follows is absent where nothing was connected to. */
  readonly protocol: string | undefined;
  /** The address connected to; absent behind a proxy. */
  readonly ipAddress: string | undefined;
  /** Of the server, for `https:`. */
  readonly certificate: X509Certificate | undefined;
  readonly timings: Timings;
  /** The request that was sent last, after redirects and middlewares. */
  request: Request | undefined;
  /**
   * What its tree and queries may cost.
   *
   * @internal
   */
  treeLimits: TreeLimits = defaultLimits;
  readonly #wireHeaders: ResponseInit['wireHeaders'];
  #headers: Headers | undefined;
  #encoding: string | undefined;
  #text: string | undefined;
  #json: unknown = unset;
  #tree: Document | undefined;
  #selector: Selector | undefined;
  #baseUrl: string | undefined;
  #$: CheerioAPI | undefined;

  constructor(url: string, init: ResponseInit = {}) {
    const { body = empty } = init;
    this.url = url;
    this.status = init.status ?? 200;
    this.body = Buffer.isBuffer(body)
      ? body
      : Buffer.from(body.buffer, body.byteOffset, body.length);
    this.path = init.path;
    this.flags = init.flags ?? [];
    this.protocol = init.protocol;
    this.ipAddress = init.ipAddress;
    this.certificate = init.certificate;
    this.timings = init.timings ?? {};
    this.request = init.request;
    this.#wireHeaders = init.wireHeaders;
    if (init.headers !== undefined) this.#headers = new Headers(init.headers);
  }

  get headers(): Headers {
    return (this.#headers ??= Headers.fromWire(this.#wireHeaders ?? {}));
  }

  /** One header without making the rest. */
  header(name: string): string | undefined {
    if (this.#headers !== undefined || this.#wireHeaders === undefined)
      return this.headers.get(name);
    const value = this.#wireHeaders[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** The meta of its request. */
  get meta(): RequestMeta {
    return (this.request ?? this.#noRequest('meta')).meta;
  }

  get cbKwargs(): Readonly<Record<string, Json>> {
    return (this.request ?? this.#noRequest('cbKwargs')).cbKwargs ?? {};
  }

  /** False for images, archives and the like: they have no text. */
  get isText(): boolean {
    return false;
  }

  /** The charset of the text, by its WHATWG name. */
  get encoding(): string {
    return (this.#encoding ??= detectEncoding(this.body, this.header('content-type')));
  }

  /** The charset that header or page declare, if any. */
  get declaredEncoding(): string | undefined {
    return declaredEncoding(this.body, this.header('content-type'));
  }

  /** @throws NotSupportedError for content that is no text. */
  get text(): string {
    if (!this.isText) {
      throw new NotSupportedError(
        `${this.toString()} is not text (${this.header('content-type') ?? 'no Content-Type'}). ${this.path === undefined ? 'Use response.body' : `Its body is in ${this.path}`}.`,
      );
    }
    return (this.#text ??= decode(this.body, this.encoding));
  }

  /** The body as JSON. @throws NotSupportedError when it is none. */
  json<T = unknown>(): T {
    if (this.#json === unset) {
      try {
        this.#json = JSON.parse(decode(this.body, 'utf-8')) as unknown;
      } catch (cause) {
        throw new NotSupportedError(`${this.toString()} is not JSON: ${(cause as Error).message}`, {
          cause,
        });
      }
    }
    return this.#json as T;
  }

  /** The page as a tree; parsed once. */
  get tree(): Document {
    return (this.#tree ??= parseTree(this.text, this.isXml, this.treeLimits));
  }

  /** True for content that is read as XML: the case of names counts, and no element is known. */
  get isXml(): boolean {
    return false;
  }

  get selector(): Selector {
    return (this.#selector ??= Selector.ofNode(this.tree, this.isXml));
  }

  /** Elements, texts (`::text`) or attributes (`::attr(name)`) by a CSS selector. */
  css(query: string): SelectorList {
    return this.selector.css(query);
  }

  /** What an XPath 1.0 finds: elements, texts (`text()`), attributes (`@name`), or the one value it gives. */
  xpath(query: string, options?: XPathOptions): SelectorList {
    return this.selector.xpath(query, options);
  }

  /** The page in cheerio, on the same tree. */
  get $(): CheerioAPI {
    if (this.#$ === undefined) {
      const { load } = requireHere('cheerio/slim') as {
        load: (tree: Document, options: object) => CheerioAPI;
      };
      forgetIndex(this.tree);
      this.#$ = load(this.tree, { xml: this.isXml ? { xmlMode: true } : false });
    }
    return this.#$;
  }

  /** What relative links are seen from: `<base href>` or the URL. */
  get baseUrl(): string {
    if (this.#baseUrl === undefined) {
      // Only the few pages with such a tag pay for a tree here.
      const hasBase = this.isText && /<base[\s/]/i.test(this.text.slice(0, headLength));
      const base = hasBase ? trimHtml(this.css(baseQuery).attrib.href ?? '') : '';
      const resolved = base === '' ? undefined : resolveUrl(base, this.url);
      // Nothing can be seen from `javascript:` or `data:`.
      this.#baseUrl = resolved && /^(?:https?|ftp|file):/.test(resolved) ? resolved : this.url;
    }
    return this.#baseUrl;
  }

  /** `link` as an absolute URL; undefined where it is none. */
  urljoin(link: string): string | undefined {
    return resolveUrl(trimHtml(link), this.baseUrl, this);
  }

  /**
   * A request for a link of this page: a relative or absolute URL, an `<a>` or `<link>` element, an `::attr(href)`.
   *
   * @throws UsageError when it is no URL.
   */
  follow(link: string | Selector | Link, options?: RequestOptions): Request {
    const text = linkText(link);
    const url = this.urljoin(text);
    if (url === undefined)
      throw new UsageError(
        `${JSON.stringify(text)} on ${this.url} is not a URL that can be followed.`,
      );
    return new Request(url, options);
  }

  /**
   * Requests for many links: a CSS selector, or any list that `follow` takes one of. Links that are no http(s) URLs are
   * left out.
   */
  followAll(
    links: string | { readonly css: string } | Iterable<string | Selector | Link>,
    options?: RequestOptions,
  ): Request[] {
    const list: Iterable<string | Selector | Link> =
      typeof links === 'string'
        ? this.#hrefs(links)
        : 'css' in links && typeof links.css === 'string'
          ? this.#hrefs(links.css)
          : (links as Iterable<string | Selector | Link>);
    const base = this.baseUrl;
    const requests: Request[] = [];
    for (const link of list) {
      const text = typeof link === 'string' ? link : linkText(link, '');
      const url = resolveUrl(trimHtml(text), base, this);
      if (url !== undefined && /^https?:/.test(url)) requests.push(new Request(url, options));
    }
    return requests;
  }

  #hrefs(query: string): string[] {
    return this.css(query).links();
  }

  replace(changes: ResponseInit & { readonly url?: string }): Response {
    const { url = this.url, ...rest } = changes;
    const copy = this.constructor as new (url: string, init: ResponseInit) => Response;
    const replaced = new copy(url, {
      status: this.status,
      ...(changes.wireHeaders === undefined &&
        (this.#headers ? { headers: this.#headers } : { wireHeaders: this.#wireHeaders })),
      body: this.body,
      path: this.path,
      request: this.request,
      flags: this.flags,
      protocol: this.protocol,
      ipAddress: this.ipAddress,
      certificate: this.certificate,
      timings: this.timings,
      ...rest,
    });
    replaced.treeLimits = this.treeLimits;
    return replaced;
  }

  toString(): string {
    return `<${this.status} ${this.url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@')}>`;
  }

  #noRequest(what: string): never {
    throw new UsageError(
      `response.${what} belongs to its request, and this response was made without one.`,
    );
  }
}

function linkText(link: string | Selector | Link, fallback?: string): string {
  if (typeof link === 'string') return link;
  if ('url' in link && typeof link.url === 'string') return link.url;
  const href = (link as Selector).link();
  if (href !== undefined) return href;
  if (fallback !== undefined) return fallback;
  throw new UsageError(
    `What follow() got is no link: follow an <a> or <link> element with href, or an ::attr(href).`,
  );
}
