import type { AnyNode } from 'domhandler';
/** An element, a text or an attribute of a page. */
export declare class Selector {
  #private;
  private constructor();
  /** What `query` finds here and below. */
  css(query: string): SelectorList;
  /** HTML of an element, the text of a text, the value of an attribute. */
  get(): string;
  getAll(): string[];
  /** All text in an element and below it, as one string. */
  text(): string;
  /** Attributes of an element. */
  get attrib(): Readonly<Record<string, string>>;
  /** Matches of a regular expression in `get()`: the group named `extract`, else all groups, else the whole match. */
  re(pattern: RegExp | string): string[];
  reFirst(pattern: RegExp | string): string | undefined;
  reFirst(pattern: RegExp | string, fallback: string): string;
  /** The link of an `<a>` or `<link>` element, or the attribute or text itself. */
  link(): string | undefined;
  /** The domhandler node, for code that works on trees; undefined for an attribute. */
  get node(): AnyNode | undefined;
  toString(): string;
}
/** What a query found, in the order of the page. */
export declare class SelectorList implements Iterable<Selector> {
  #private;
  get length(): number;
  at(index: number): Selector | undefined;
  [Symbol.iterator](): Generator<Selector>;
  map<T>(each: (selector: Selector, index: number) => T): T[];
  /** What `query` finds in each of these, without repeats. */
  css(query: string): SelectorList;
  /** The first, as `Selector.get()`. */
  get(): string | undefined;
  get(fallback: string): string;
  getAll(): string[];
  /** Attributes of the first; empty if there is none. */
  get attrib(): Readonly<Record<string, string>>;
  re(pattern: RegExp | string): string[];
  reFirst(pattern: RegExp | string): string | undefined;
  reFirst(pattern: RegExp | string, fallback: string): string;
  /** Their links, as `Selector.link()`; those without one are left out. Not detached from the page. */
  links(): string[];
}
//# sourceMappingURL=selector.d.ts.map
