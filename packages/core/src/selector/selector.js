import { getOuterHTML, isTag, isText, textContent } from 'domutils';

import { detach } from '../http/url.js';
import { compileQuery, runQuery } from './query.js';
/** An element, a text or an attribute of a page. */
export class Selector {
  #found;
  constructor(found) {
    this.#found = found;
  }
  /** @internal */
  static ofNode(found) {
    return new Selector(found);
  }
  /** What `query` finds here and below. */
  css(query) {
    const found = [];
    if (typeof this.#found !== 'string') runQuery(compileQuery(query), this.#found, found);
    return new SelectorList(found);
  }
  /** HTML of an element, the text of a text, the value of an attribute. */
  get() {
    return textOf(this.#found);
  }
  getAll() {
    return [this.get()];
  }
  /** All text in an element and below it, as one string. */
  text() {
    return typeof this.#found === 'string' ? this.get() : detach(textContent(this.#found));
  }
  /** Attributes of an element. */
  get attrib() {
    return attributesOf(this.#found);
  }
  /** Matches of a regular expression in `get()`: the group named `extract`, else all groups, else the whole match. */
  re(pattern) {
    return matches(this.get(), pattern);
  }
  reFirst(pattern, fallback) {
    return this.re(pattern)[0] ?? fallback;
  }
  /** The link of an `<a>` or `<link>` element, or the attribute or text itself. */
  link() {
    return linkOf(this.#found);
  }
  /** The domhandler node, for code that works on trees; undefined for an attribute. */
  get node() {
    return typeof this.#found === 'string' ? undefined : this.#found;
  }
  toString() {
    return `<Selector ${this.get().slice(0, 60)}>`;
  }
}
/** What a query found, in the order of the page. */
export class SelectorList {
  #found;
  /** @internal */
  constructor(found) {
    this.#found = found;
  }
  get length() {
    return this.#found.length;
  }
  at(index) {
    const found = this.#found.at(index);
    return found === undefined ? undefined : Selector.ofNode(found);
  }
  *[Symbol.iterator]() {
    for (const found of this.#found) yield Selector.ofNode(found);
  }
  map(each) {
    return this.#found.map((found, index) => each(Selector.ofNode(found), index));
  }
  /** What `query` finds in each of these, without repeats. */
  css(query) {
    const compiled = compileQuery(query);
    const found = [];
    for (const one of this.#found) if (typeof one !== 'string') runQuery(compiled, one, found);
    return new SelectorList(this.#found.length > 1 ? unique(found) : found);
  }
  get(fallback) {
    const first = this.#found[0];
    return first === undefined ? fallback : textOf(first);
  }
  getAll() {
    return this.#found.map(textOf);
  }
  /** Attributes of the first; empty if there is none. */
  get attrib() {
    return this.#found[0] === undefined ? {} : attributesOf(this.#found[0]);
  }
  re(pattern) {
    return this.#found.flatMap((found) => matches(textOf(found), pattern));
  }
  reFirst(pattern, fallback) {
    for (const found of this.#found) {
      const [first] = matches(textOf(found), pattern);
      if (first !== undefined) return first;
    }
    return fallback;
  }
  /** Their links, as `Selector.link()`; those without one are left out. Not detached from the page. */
  links() {
    const links = [];
    for (const found of this.#found) {
      const link = linkOf(found);
      if (link !== undefined) links.push(link);
    }
    return links;
  }
}
function textOf(found) {
  if (typeof found === 'string') return detach(found);
  if (isText(found)) return detach(found.data);
  return getOuterHTML(found, { decodeEntities: false });
}
function attributesOf(found) {
  if (typeof found === 'string' || !isTag(found)) return {};
  const attributes = {};
  for (const [name, value] of Object.entries(found.attribs)) attributes[name] = detach(value);
  return attributes;
}
function linkOf(found) {
  if (typeof found === 'string') return found;
  if (isText(found)) return found.data;
  return found.attribs?.href;
}
/** Nodes once each; equal attribute values stay. */
function unique(found) {
  const seen = new Set();
  return found.filter((one) => typeof one === 'string' || (!seen.has(one) && seen.add(one)));
}
function matches(text, pattern) {
  const regex =
    typeof pattern === 'string'
      ? new RegExp(pattern, 'g')
      : new RegExp(
          pattern.source,
          pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`,
        );
  const found = [];
  for (const match of text.matchAll(regex)) {
    if (match.groups?.extract !== undefined) found.push(match.groups.extract);
    else if (match.length > 1) found.push(...match.slice(1).map((group) => group ?? ''));
    else found.push(match[0]);
  }
  return found.map(detach);
}
//# sourceMappingURL=selector.js.map
