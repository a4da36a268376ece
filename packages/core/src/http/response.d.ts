import type { CheerioAPI } from 'cheerio';
import type { Document } from 'domhandler';

import type { Link } from '../selector/link-extractor.ts';
import { Selector, type SelectorList } from '../selector/selector.ts';
import { Headers, type HeadersInput } from './headers.ts';
import { type Json, Request, type RequestMeta, type RequestOptions } from './request.ts';
/** How long each part of a download took, in milliseconds. */
export interface Timings {
  readonly wait?: number;
  readonly dns?: number;
  /** Until the request was written: name resolution, connection and TLS where there was no open connection. */
  readonly connect?: number;
  readonly tls?: number;
  /** From the written request to the response headers. */
  readonly firstByte?: number;
  readonly body?: number;
}
export interface ResponseInit {
  readonly status?: number;
  readonly headers?: HeadersInput;
  /** Headers as the wire gave them, made into `Headers` when asked for. */
  readonly wireHeaders?: Readonly<Record<string, string | string[] | undefined>>;
  /** Content-decoded bytes. */
  readonly body?: Uint8Array;
  readonly request?: Request;
  readonly flags?: readonly string[];
  readonly protocol?: string;
  readonly ipAddress?: string;
  readonly timings?: Timings;
}
/** What came back. Text, JSON and selectors are made when asked for and kept. */
export declare class Response {
  #private;
  readonly url: string;
  readonly status: number;
  /** Raw bytes after content decoding. */
  readonly body: Buffer;
  /** `cached`, `dataloss`, `truncated`, `download_stopped`. */
  readonly flags: readonly string[];
  readonly protocol: string | undefined;
  readonly ipAddress: string | undefined;
  readonly timings: Timings;
  /** The request that was sent last, after redirects and middlewares. */
  request: Request | undefined;
  constructor(url: string, init?: ResponseInit);
  get headers(): Headers;
  /** One header without making the rest. */
  header(name: string): string | undefined;
  /** The meta of its request. */
  get meta(): RequestMeta;
  get cbKwargs(): Readonly<Record<string, Json>>;
  /** False for images, archives and the like: they have no text. */
  get isText(): boolean;
  /** The charset of the text, by its WHATWG name. */
  get encoding(): string;
  /** The charset that header or page declare, if any. */
  get declaredEncoding(): string | undefined;
  /** @throws NotSupportedError for content that is no text. */
  get text(): string;
  /** The body as JSON. @throws NotSupportedError when it is none. */
  json<T = unknown>(): T;
  /** The page as a tree; parsed once. */
  get tree(): Document;
  /** True once a tree has been made. */
  get hasTree(): boolean;
  protected get isXml(): boolean;
  get selector(): Selector;
  /** Elements, texts (`::text`) or attributes (`::attr(name)`) by a CSS selector. */
  css(query: string): SelectorList;
  /** The page in cheerio, on the same tree. */
  get $(): CheerioAPI;
  /** What relative links are seen from: `<base href>` or the URL. */
  get baseUrl(): string;
  /** `link` as an absolute URL; undefined where it is none. */
  urljoin(link: string): string | undefined;
  /**
   * A request for a link of this page: a relative or absolute URL, an `<a>` or `<link>` element, an `::attr(href)`.
   *
   * @throws UsageError when it is no URL.
   */
  follow(link: string | Selector | Link, options?: RequestOptions): Request;
  /**
   * Requests for many links: a CSS selector, or any list that `follow` takes one of. Links that are no http(s) URLs are
   * left out.
   */
  followAll(
    links:
      | string
      | {
          readonly css: string;
        }
      | Iterable<string | Selector | Link>,
    options?: RequestOptions,
  ): Request[];
  replace(
    changes: ResponseInit & {
      readonly url?: string;
    },
  ): Response;
  toString(): string;
}
//# sourceMappingURL=response.d.ts.map
