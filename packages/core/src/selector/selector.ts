import { type AnyNode, isDocument, isTag, isText } from 'domhandler';
import { getOuterHTML } from 'domutils';

import { detach } from '../http/url.ts';
import { beginSteps, spend } from './budget.ts';
import { forgetIndex } from './page-tree.ts';
import { compileQuery, type Found, runQuery } from './query.ts';
import { textBelow } from './walk.ts';
import { runXPath, type XPathOptions } from './xpath.ts';

/** An element, a text or an attribute of a page. */
export class Selector {
  readonly #found: Found;
  readonly #isXml: boolean;

  private constructor(found: Found, isXml: boolean) {
    this.#found = found;
    this.#isXml = isXml;
  }

  /** @internal */
  static ofNode(found: Found, isXml = false): Selector {
    return new Selector(found, isXml);
  }

  /** What `query` finds here and below. */
  css(query: string): SelectorList {
    const compiled = compileQuery(query, this.#isXml);
    return new SelectorList(
      typeof this.#found === 'string' ? [] : runQuery(compiled, this.#found),
      this.#isXml,
    );
  }

  /**
   * What an XPath 1.0 finds, seen from here: `.//a` looks below, `//a` in the whole page. A number or text that it gives
   * is the only one of the list.
   */
  xpath(query: string, options?: XPathOptions): SelectorList {
    const found =
      typeof this.#found === 'string' ? [] : runXPath(query, this.#found, this.#isXml, options);
    return new SelectorList(found, this.#isXml);
  }

  /** HTML of an element, the text of a text, the value of an attribute. */
  get(): string {
    return textOf(this.#found, this.#isXml);
  }

  getAll(): string[] {
    return [this.get()];
  }

  /** All text in an element and below it, as one string. */
  text(): string {
    return typeof this.#found === 'string' ? this.get() : detach(textBelow(this.#found));
  }

  /** Attributes of an element. */
  get attrib(): Readonly<Record<string, string>> {
    return attributesOf(this.#found);
  }

  /** Matches of a regular expression in `get()`: the group named `extract`, else all groups, else the whole match. */
  re(pattern: RegExp | string): string[] {
    return matches([this.#found], pattern, this.#isXml);
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
    if (typeof this.#found === 'string') return undefined;
    let root: AnyNode = this.#found;
    while (root.parent !== null) root = root.parent;
    if (isDocument(root)) forgetIndex(root);
    return this.#found;
  }

  toString(): string {
    return `<Selector ${this.get().slice(0, 60)}>`;
  }
}

/** What a query found, in the order of the page. */
export class SelectorList implements Iterable<Selector> {
  readonly #found: readonly Found[];
  readonly #isXml: boolean;

  /** @internal */
  constructor(found: readonly Found[], isXml: boolean) {
    this.#found = found;
    this.#isXml = isXml;
  }

  get length(): number {
    return this.#found.length;
  }

  at(index: number): Selector | undefined {
    const found = this.#found.at(index);
    return found === undefined ? undefined : Selector.ofNode(found, this.#isXml);
  }

  *[Symbol.iterator](): Generator<Selector> {
    for (const found of this.#found) yield Selector.ofNode(found, this.#isXml);
  }

  map<T>(each: (selector: Selector, index: number) => T): T[] {
    return this.#found.map((found, index) => each(Selector.ofNode(found, this.#isXml), index));
  }

  /** What `query` finds in each of these, without repeats. */
  css(query: string): SelectorList {
    const compiled = compileQuery(query, this.#isXml);
    const found: Found[] = [];
    for (const one of this.#found) {
      if (typeof one !== 'string') for (const each of runQuery(compiled, one)) found.push(each);
    }
    return new SelectorList(this.#found.length > 1 ? unique(found) : found, this.#isXml);
  }

  /** What `query` finds seen from each of these, without repeats. */
  xpath(query: string, options?: XPathOptions): SelectorList {
    const found: Found[] = [];
    for (const one of this.#found) {
      if (typeof one !== 'string')
        for (const each of runXPath(query, one, this.#isXml, options)) found.push(each);
    }
    return new SelectorList(this.#found.length > 1 ? unique(found) : found, this.#isXml);
  }

  /** The first, as `Selector.get()`. */
  get(): string | undefined;
  get(fallback: string): string;
  get(fallback?: string): string | undefined {
    const first = this.#found[0];
    return first === undefined ? fallback : textOf(first, this.#isXml);
  }

  getAll(): string[] {
    return textsOf(this.#found, this.#isXml);
  }

  /** Attributes of the first; empty if there is none. */
  get attrib(): Readonly<Record<string, string>> {
    return this.#found[0] === undefined ? {} : attributesOf(this.#found[0]);
  }

  re(pattern: RegExp | string): string[] {
    return matches(this.#found, pattern, this.#isXml);
  }

  reFirst(pattern: RegExp | string): string | undefined;
  reFirst(pattern: RegExp | string, fallback: string): string;
  reFirst(pattern: RegExp | string, fallback?: string): string | undefined {
    for (const found of this.#found) {
      const [first] = matches([found], pattern, this.#isXml);
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

function textOf(found: Found, isXml: boolean): string {
  if (typeof found === 'string') return detach(found);
  if (isText(found)) return detach(found.data);
  if (!isXml) return getOuterHTML(found, { encodeEntities: 'utf8' });
  return getOuterHTML(found, { xmlMode: true }).replace(
    /&#x([0-9a-f]+);/gi,
    (escape, hex: string) => {
      const code = parseInt(hex, 16);
      return code > 0x7f ? String.fromCodePoint(code) : escape;
    },
  );
}

/** The HTML of elements inside one another is long: it counts as a query. */
function textsOf(found: readonly Found[], isXml: boolean): string[] {
  const [first] = found;
  if (first !== undefined && typeof first !== 'string') beginSteps(first);
  return found.map((one) => {
    const text = textOf(one, isXml);
    if (typeof one !== 'string') spend(text.length >> 3);
    return text;
  });
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
  return isTag(found) ? found.attribs.href : undefined;
}

/** Nodes once each; equal attribute values stay. */
function unique(found: readonly Found[]): Found[] {
  const seen = new Set<Found>();
  return found.filter((one) => typeof one === 'string' || (!seen.has(one) && seen.add(one)));
}

function matches(from: readonly Found[], pattern: RegExp | string, isXml: boolean): string[] {
  // A copy: a pattern of the caller's remembers where it was.
  const regex =
    typeof pattern === 'string'
      ? new RegExp(pattern, 'g')
      : new RegExp(pattern, pattern.flags.replace(/[gy]/g, '') + 'g');
  const found: string[] = [];
  for (const one of from) {
    const text = typeof one === 'string' || isText(one) ? textOf(one, isXml) : readable(one, isXml);
    for (const match of text.matchAll(regex)) {
      if (match.groups?.extract !== undefined) found.push(detach(match.groups.extract));
      else if (match.length === 1) found.push(detach(match[0]));
      else for (let i = 1; i < match.length; i++) found.push(detach(match[i] ?? ''));
    }
  }
  return found;
}

/** HTML as people write patterns for it: only `&lt;` and `&amp;` are left of its entities. */
function readable(node: AnyNode, isXml: boolean): string {
  return textOf(node, isXml)
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"');
}
