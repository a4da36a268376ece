import { type Failure, UsageError } from '../errors.ts';
import { type CallbackRef, type Json, Request } from '../http/request.ts';
import { HtmlResponse } from '../http/response-types.ts';
import type { Response } from '../http/response.ts';
import { type Link, LinkExtractor } from '../selector/link-extractor.ts';
import { Spider, type SpiderArgs, type SpiderOutput, type SpiderYield } from './spider.ts';

export interface RuleOptions {
  /** Reads the pages that the links lead to: a method of the spider or its name. */
  readonly callback?: CallbackRef;
  /** Called where such a page did not come. */
  readonly errback?: CallbackRef;
  /** Second argument of the callback. JSON. */
  readonly cbKwargs?: Readonly<Record<string, Json>>;
  /** Follow the links of those pages too; by default where there is no callback. */
  readonly follow?: boolean;
  /** Changes the list of links of a page. */
  readonly processLinks?: (links: Link[]) => Iterable<Link>;
  /** Changes a request; nothing drops it. */
  readonly processRequest?: (request: Request, response: Response) => Request | null | undefined;
}

/** Which links of a page a `CrawlSpider` follows, and who reads the pages. */
export class Rule {
  readonly linkExtractor: LinkExtractor;
  readonly options: RuleOptions;
  readonly follow: boolean;

  constructor(linkExtractor: LinkExtractor = new LinkExtractor(), options: RuleOptions = {}) {
    this.linkExtractor = linkExtractor;
    this.options = options;
    this.follow = options.follow ?? options.callback === undefined;
  }
}

/** Follows links by rules. Each page is read first, then its links are taken by each rule in turn. */
export class CrawlSpider<Item = unknown> extends Spider<Item> {
  /** A link belongs to the first rule that finds it on a page. */
  readonly rules: readonly Rule[] = [];

  constructor(args: SpiderArgs = {}) {
    super(args);
    if (this.parse !== CrawlSpider.prototype.parse) {
      throw new UsageError(
        `Spider ${this.name} is a CrawlSpider, which needs parse() itself. Name the method otherwise, parseItem() say, and give it to a rule.`,
      );
    }
  }

  /** Reads the start pages; nothing by default. */
  parseStartUrl(_response: Response, ..._args: never[]): SpiderOutput<Item> {
    return undefined;
  }

  override async *parse(response: Response): AsyncGenerator<SpiderYield<Item>, void, undefined> {
    yield* outputs(this.parseStartUrl(response));
    yield* this.#requestsFrom(response);
  }

  /** Callback of the requests that rules make. */
  async *parseRule(response: Response): AsyncGenerator<SpiderYield<Item>, void, undefined> {
    const rule = this.#ruleOf(response.request!);
    const { callback, cbKwargs } = rule.options;
    if (callback !== undefined) yield* outputs(this.#call(callback, response, { ...cbKwargs }));
    if (rule.follow) yield* this.#requestsFrom(response);
  }

  /** Errback of the requests that rules make. */
  failRule(failure: Failure): SpiderOutput<Item> {
    const { errback } = this.#ruleOf(failure.request).options;
    return errback === undefined ? undefined : this.#call(errback, failure);
  }

  *#requestsFrom(response: Response): Generator<Request> {
    if (!(response instanceof HtmlResponse)) return;
    const seen = new Set<string>();
    for (const [index, rule] of this.rules.entries()) {
      const { processLinks, processRequest, errback } = rule.options;
      const links = rule.linkExtractor.extractLinks(response).filter(({ url }) => !seen.has(url));
      for (const { url, text } of processLinks ? processLinks.call(this, links) : links) {
        seen.add(url);
        const request = new Request(url, {
          callback: this.parseRule,
          errback: errback === undefined ? undefined : this.failRule,
          meta: { rule: index, linkText: text },
        });
        const kept = processRequest ? processRequest.call(this, request, response) : request;
        if (kept) yield kept;
      }
    }
  }

  #ruleOf(request: Request): Rule {
    const rule = this.rules[Number(request.meta['rule'])];
    if (rule) return rule;
    throw new UsageError(`${request.toString()} belongs to no rule of spider ${this.name}.`);
  }

  #call(callback: CallbackRef, ...args: unknown[]): SpiderOutput<Item> {
    const method =
      typeof callback === 'string'
        ? (this as unknown as Record<string, unknown>)[callback]
        : callback;
    if (typeof method !== 'function') {
      throw new UsageError(`Spider ${this.name} has no method ${String(callback)}.`);
    }
    // What a callback of the user returns is checked where its output arrives.
    return method.call(this, ...args) as SpiderOutput<Item>;
  }
}

/** Every kind of output as a stream. */
async function* outputs<Item>(
  output: SpiderOutput<Item>,
): AsyncGenerator<SpiderYield<Item>, void, undefined> {
  const value: unknown = await output;
  if (value === null || value === undefined) return;
  const isMany =
    typeof value === 'object' && (Symbol.asyncIterator in value || Symbol.iterator in value);
  if (isMany) yield* value as AsyncIterable<SpiderYield<Item>>;
  else yield value as SpiderYield<Item>;
}
