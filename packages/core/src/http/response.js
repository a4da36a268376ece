import { createRequire } from 'node:module';

import { NotSupportedError, UsageError } from '../errors.js';
import { Selector } from '../selector/selector.js';
import { parseTree } from '../selector/tree.js';
import { declaredEncoding, decode, detectEncoding } from './encoding.js';
import { Headers } from './headers.js';
import { Request } from './request.js';
import { resolveUrl } from './url.js';
const requireHere = createRequire(import.meta.url);
const empty = Buffer.alloc(0);
const unset = Symbol('unset');
/** What came back. Text, JSON and selectors are made when asked for and kept. */
export class Response {
  url;
  status;
  /** Raw bytes after content decoding. */
  body;
  /** `cached`, `dataloss`, `truncated`, `download_stopped`. */
  flags;
  protocol;
  ipAddress;
  timings;
  /** The request that was sent last, after redirects and middlewares. */
  request;
  #wireHeaders;
  #headers;
  #encoding;
  #text;
  #json = unset;
  #tree;
  #selector;
  #baseUrl;
  #$;
  constructor(url, init = {}) {
    const { body = empty } = init;
    this.url = url;
    this.status = init.status ?? 200;
    this.body = Buffer.isBuffer(body)
      ? body
      : Buffer.from(body.buffer, body.byteOffset, body.length);
    this.flags = init.flags ?? [];
    this.protocol = init.protocol;
    this.ipAddress = init.ipAddress;
    this.timings = init.timings ?? {};
    this.request = init.request;
    this.#wireHeaders = init.wireHeaders;
    if (init.headers !== undefined) this.#headers = new Headers(init.headers);
  }
  get headers() {
    return (this.#headers ??= Headers.fromWire(this.#wireHeaders ?? {}));
  }
  /** One header without making the rest. */
  header(name) {
    if (this.#headers !== undefined || this.#wireHeaders === undefined)
      return this.headers.get(name);
    const value = this.#wireHeaders[name];
    return Array.isArray(value) ? value[0] : value;
  }
  /** The meta of its request. */
  get meta() {
    return (this.request ?? this.#noRequest('meta')).meta;
  }
  get cbKwargs() {
    return (this.request ?? this.#noRequest('cbKwargs')).cbKwargs ?? {};
  }
  /** False for images, archives and the like: they have no text. */
  get isText() {
    return false;
  }
  /** The charset of the text, by its WHATWG name. */
  get encoding() {
    return (this.#encoding ??= detectEncoding(this.body, this.header('content-type')));
  }
  /** The charset that header or page declare, if any. */
  get declaredEncoding() {
    return declaredEncoding(this.body, this.header('content-type'));
  }
  /** @throws NotSupportedError for content that is no text. */
  get text() {
    if (!this.isText) {
      throw new NotSupportedError(
        `${this.toString()} is not text (${this.header('content-type') ?? 'no Content-Type'}). Use response.body.`,
      );
    }
    return (this.#text ??= decode(this.body, this.encoding));
  }
  /** The body as JSON. @throws NotSupportedError when it is none. */
  json() {
    if (this.#json === unset) {
      try {
        this.#json = JSON.parse(decode(this.body, 'utf-8'));
      } catch (cause) {
        throw new NotSupportedError(`${this.toString()} is not JSON: ${cause.message}`, {
          cause,
        });
      }
    }
    return this.#json;
  }
  /** The page as a tree; parsed once. */
  get tree() {
    return (this.#tree ??= parseTree(this.text, this.isXml));
  }
  /** True once a tree has been made. */
  get hasTree() {
    return this.#tree !== undefined;
  }
  get isXml() {
    return false;
  }
  get selector() {
    return (this.#selector ??= Selector.ofNode(this.tree));
  }
  /** Elements, texts (`::text`) or attributes (`::attr(name)`) by a CSS selector. */
  css(query) {
    return this.selector.css(query);
  }
  /** The page in cheerio, on the same tree. */
  get $() {
    if (this.#$ === undefined) {
      const { load } = requireHere('cheerio/slim');
      this.#$ = load(this.tree, { xml: this.isXml ? { xmlMode: true } : false });
    }
    return this.#$;
  }
  /** What relative links are seen from: `<base href>` or the URL. */
  get baseUrl() {
    if (this.#baseUrl === undefined) {
      let base;
      if (this.isText && /<base/i.test(this.text.slice(0, 8192)))
        base = this.css('base[href]').at(0)?.attrib.href?.trim();
      this.#baseUrl = (base && resolveUrl(base, this.url)) || this.url;
    }
    return this.#baseUrl;
  }
  /** `link` as an absolute URL; undefined where it is none. */
  urljoin(link) {
    return resolveUrl(trimHtml(link), this.baseUrl);
  }
  /**
   * A request for a link of this page: a relative or absolute URL, an `<a>` or `<link>` element, an `::attr(href)`.
   *
   * @throws UsageError when it is no URL.
   */
  follow(link, options) {
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
  followAll(links, options) {
    const list =
      typeof links === 'string'
        ? this.#hrefs(links)
        : 'css' in links && typeof links.css === 'string'
          ? this.#hrefs(links.css)
          : links;
    const base = this.baseUrl;
    const requests = [];
    for (const link of list) {
      const text = typeof link === 'string' ? link : linkText(link, '');
      const url = resolveUrl(trimHtml(text), base);
      if (url?.startsWith('http')) requests.push(new Request(url, options));
    }
    return requests;
  }
  #hrefs(query) {
    return this.css(query).links();
  }
  replace(changes) {
    const { url = this.url, ...rest } = changes;
    const copy = this.constructor;
    return new copy(url, {
      status: this.status,
      ...(this.#headers ? { headers: this.#headers } : { wireHeaders: this.#wireHeaders }),
      body: this.body,
      request: this.request,
      flags: this.flags,
      protocol: this.protocol,
      ipAddress: this.ipAddress,
      timings: this.timings,
      ...rest,
    });
  }
  toString() {
    return `<${this.status} ${this.url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@')}>`;
  }
  #noRequest(what) {
    throw new UsageError(
      `response.${what} belongs to its request, and this response was made without one.`,
    );
  }
}
function linkText(link, fallback) {
  if (typeof link === 'string') return link;
  if ('url' in link && typeof link.url === 'string') return link.url;
  const href = link.link();
  if (href !== undefined) return href;
  if (fallback !== undefined) return fallback;
  throw new UsageError(
    `${String(link)} is no link: follow an <a> or <link> element with href, or an ::attr(href).`,
  );
}
/** HTML's whitespace round a link does not belong to it. */
function trimHtml(text) {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return first <= 32 || last <= 32 ? text.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '') : text;
}
//# sourceMappingURL=response.js.map
