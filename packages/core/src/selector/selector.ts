import type { AnyNode, Element } from 'domhandler';
import { getOuterHTML, isTag, isText, textContent } from 'domutils';

import { detach } from '../http/url.ts';
import { compileQuery, type Found, runQuery } from './query.ts';

/** An element, a text or an attribute of a page. */
export class Selector {
  readonly #found: Found;

  private constructor(found: Found) {
    this.#found = found;
  }

  /** @internal */
  static ofNode(found: Found): Selector {
    return new Selector(found);
  }

  /** What `query` finds here and below. */
  css(query: string): SelectorList {
    const found: Found[] = [];
    if (typeof this.#found !== 'string') runQuery(compileQuery(query), this.#found, found);
    return new SelectorList(found);
  }

  /** HTML of an element, the text of a text, the value of an attribute. */
  get(): string {
    return textOf(this.#found);
  }

  getAll(): string[] {
    return [this.get()];
  }

  /** All text in an element and below it, as one string. */
  text(): string {
    return typeof this.#found === 'string' ? this.get() : detach(textContent(this.#found));
  }

  /** Attributes of an element. */
  get attrib(): Readonly<Record<string, string>> {
    return attributesOf(this.#found);
  }

  /** Matches of a regular expression in `get()`: the group named `extract`, else all groups, else the whole match. */
  re(pattern: RegExp | string): string[] {
    return matches(this.get(), pattern);
  }

  reFirst(pattern: RegExp | string): string | undefined;
  reFirst(pattern: RegExp | string, fallback: string): string;
  reFirst(pattern: RegExp | string, fallback?: string): string | undefined {
    return this.re(pattern)[0] ?? fallback;
  }

  /** The link of an `<a>` or `<link>` element, or the attribute or text itself. */
  link(): string | undefined {
    return linkOf(this.#found);
  }

  /** The domhandler node, for code that works on trees; undefined for an attribute. */
  get node(): AnyNode | undefined {
    return typeof this.#found === 'string' ? undefined : this.#found;
  }

  toString(): string {
    return `<Selector ${this.get().slice(0, 60)}>`;
  }
}

/** What a query found, in the order of the page. */
export class SelectorList implements Iterable<Selector> {
  readonly #found: readonly Found[];

  /** @internal */
  constructor(found: readonly Found[]) {
    this.#found = found;
  }

  get length(): number {
    return this.#found.length;
  }

  at(index: number): Selector | undefined {
    const found = this.#found.at(index);
    return found === undefined ? undefined : Selector.ofNode(found);
  }

  *[Symbol.iterator](): Generator<Selector> {
    for (const found of this.#found) yield Selector.ofNode(found);
  }

  map<T>(each: (selector: Selector, index: number) => T): T[] {
    return this.#found.map((found, index) => each(Selector.ofNode(found), index));
  }

  /** What `query` finds in each of these, without repeats. */
  css(query: string): SelectorList {
    const compiled = compileQuery(query);
    const found: Found[] = [];
    for (const one of this.#found) if (typeof one !== 'string') runQuery(compiled, one, found);
    return new SelectorList(this.#found.length > 1 ? unique(found) : found);
  }

  /** The first, as `Selector.get()`. */
  get(): string | undefined;
  get(fallback: string): string;
  get(fallback?: string): string | undefined {
    const first = this.#found[0];
    return first === undefined ? fallback : textOf(first);
  }

  getAll(): string[] {
    return this.#found.map(textOf);
  }

  /** Attributes of the first; empty if there is none. */
  get attrib(): Readonly<Record<string, string>> {
    return this.#found[0] === undefined ? {} : attributesOf(this.#found[0]);
  }

  re(pattern: RegExp | string): string[] {
    return this.#found.flatMap((found) => matches(textOf(found), pattern));
  }

  reFirst(pattern: RegExp | string): string | undefined;
  reFirst(pattern: RegExp | string, fallback: string): string;
  reFirst(pattern: RegExp | string, fallback?: string): string | undefined {
    for (const found of this.#found) {
      const [first] = matches(textOf(found), pattern);
      if (first !== undefined) return first;
    }
    return fallback;
  }

  /** Their links, as `Selector.link()`; those without one are left out. Not detached from the page. */
  links(): string[] {
    const links: string[] = [];
    for (const found of this.#found) {
      const link = linkOf(found);
      if (link !== undefined) links.push(link);
    }
    return links;
  }
}

function textOf(found: Found): string {
  if (typeof found === 'string') return detach(found);
  if (isText(found)) return detach(found.data);
  return getOuterHTML(found, { decodeEntities: false });
}

function attributesOf(found: Found): Readonly<Record<string, string>> {
  if (typeof found === 'string' || !isTag(found)) return {};
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(found.attribs)) attributes[name] = detach(value);
  return attributes;
}

function linkOf(found: Found): string | undefined {
  if (typeof found === 'string') return found;
  if (isText(found)) return found.data;
  return (found as Element).attribs?.href;
}

/** Nodes once each; equal attribute values stay. */
function unique(found: readonly Found[]): Found[] {
  const seen = new Set<Found>();
  return found.filter((one) => typeof one === 'string' || (!seen.has(one) && seen.add(one)));
}

function matches(text: string, pattern: RegExp | string): string[] {
  const regex =
    typeof pattern === 'string'
      ? new RegExp(pattern, 'g')
      : new RegExp(
          pattern.source,
          pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`,
        );
  const found: string[] = [];
  for (const match of text.matchAll(regex)) {
    if (match.groups?.extract !== undefined) found.push(match.groups.extract);
    else if (match.length > 1) found.push(...match.slice(1).map((group) => group ?? ''));
    else found.push(match[0]);
  }
  return found.map(detach);
}
