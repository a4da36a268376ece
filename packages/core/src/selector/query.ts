import { compile, type Options } from 'css-select';
import { parse, type Selector as Token, SelectorType } from 'css-what';
import {
  type AnyNode,
  type Element,
  hasChildren,
  isCDATA,
  isDocument,
  isTag,
  isText,
  type ParentNode,
} from 'domhandler';
import * as domutils from 'domutils';

import { UsageError } from '../errors.ts';
import { beginSteps, expensive, spend } from './budget.ts';
import { elementIndex } from './page-tree.ts';
import { compileThorough } from './thorough.ts';
import { nextNode } from './walk.ts';

/** What a group of a query takes from the elements it matches. */
type Taken =
  | { readonly kind: 'node' }
  | { readonly kind: 'text' }
  | { readonly kind: 'attr'; readonly name: string };

interface Group {
  /** True if an element is what the group looks for. */
  readonly matches: (element: Element) => boolean;
  /** The same without looking at a node many times; made for one run. */
  readonly thorough: () => (element: Element) => boolean;
  /** Name that all its elements have, if it says so. */
  readonly name: string | undefined;
  readonly taken: Taken;
}

/** A CSS selector, compiled: its groups by what they take. */
export type Query = readonly Group[];
/** A result: an element, a text node, or the value of an attribute. */
export type Found = AnyNode | string;

/** Queries are few and used for every page. In XML the case of names counts, so it has its own. */
const queries = { html: new Map<string, Query>(), xml: new Map<string, Query>() };
const mostQueries = 2000;

/** Combinators do not look above the element that a query starts from. */
let scope: AnyNode | null = null;
const adapter = {
  ...domutils,
  isTag: isTag as (node: AnyNode) => node is Element,
  getParent: (node: Element): ParentNode | null => {
    spend(1);
    return node === scope ? null : node.parent;
  },
  getChildren: (node: AnyNode): AnyNode[] => {
    const children = domutils.getChildren(node);
    spend(children.length);
    return children;
  },
  getSiblings: (node: AnyNode): AnyNode[] => {
    const siblings = domutils.getSiblings(node);
    spend(siblings.length);
    return siblings;
  },
  getText: (node: AnyNode | AnyNode[]): string => {
    const text = domutils.getText(node);
    spend(text.length >> 3);
    return text;
  },
};
// What css-select would remember of a node holds for one scope and one state of the tree; queries outlive both.
const htmlOptions: Options<AnyNode, Element> = { adapter, cacheResults: false };
const xmlOptions: Options<AnyNode, Element> = { ...htmlOptions, xmlMode: true };

/** @throws UsageError for a selector that is none. */
export function compileQuery(text: string, isXml: boolean): Query {
  const known = isXml ? queries.xml : queries.html;
  let query = known.get(text);
  if (query === undefined) {
    query = build(text, isXml ? xmlOptions : htmlOptions);
    if (known.size >= mostQueries) known.clear();
    known.set(text, query);
  }
  return query;
}

function build(text: string, options: Options<AnyNode, Element>): Query {
  try {
    if (text.trim() === '') throw new Error('it is empty');
    // Those that take the same are one query, so that their results come in the order of the page.
    const groups = new Map<string, { tokens: Token[][]; taken: Taken }>();
    for (const tokens of parse(text)) {
      const { taken, matched } = split(tokens);
      const key = JSON.stringify(taken);
      const group = groups.get(key);
      if (group) group.tokens.push(...matched);
      else groups.set(key, { tokens: matched, taken });
    }
    return Array.from(groups.values(), ({ tokens, taken }) => {
      // Compiling changes what it reads.
      const compiled = compile<AnyNode, Element>(structuredClone(tokens), options);
      return {
        taken,
        matches: compiled as (element: Element) => boolean,
        thorough: () => compileThorough(tokens, options),
        name: nameOf(tokens),
      };
    });
  } catch (cause) {
    throw new UsageError(
      `${JSON.stringify(text)} is not a CSS selector: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** The element name that all of these selectors end with. */
function nameOf(selectors: Token[][]): string | undefined {
  let name: string | undefined;
  for (const tokens of selectors) {
    const last = tokens.slice(
      tokens.findLastIndex(
        (token) => isCombinator(token) || token.type === SelectorType.Descendant,
      ) + 1,
    );
    const tag = last.find((token) => token.type === SelectorType.Tag);
    if (tag === undefined || (name !== undefined && name !== tag.name.toLowerCase()))
      return undefined;
    name = tag.name.toLowerCase();
  }
  return name;
}

/** The elements in `node` and below it that a group looks for. */
function elementsOf(group: Group, node: AnyNode): Element[] {
  beginSteps(node, true);
  try {
    return search(group, node);
  } catch (thrown) {
    if (thrown !== expensive) throw thrown;
    beginSteps(node);
    return search(group, node, group.thorough());
  }
}

/**
 * The elements of a tree that match, in its order. By `children` alone: code that changes a tree may forget the links
 * between siblings. What `<template>` holds is part of the page, as in Scrapy.
 */
function below(node: AnyNode, matches: (element: Element) => boolean): Element[] {
  const found: Element[] = [];
  const stack: AnyNode[] = [node];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (isTag(at) && matches(at)) found.push(at);
    if (!hasChildren(at)) continue;
    for (let i = at.children.length - 1; i >= 0; i--) stack.push(at.children[i] as AnyNode);
  }
  return found;
}

function search(group: Group, node: AnyNode, matches?: (element: Element) => boolean): Element[] {
  const index = isDocument(node) ? elementIndex(node) : undefined;
  if (index === undefined) return below(node, matches ?? group.matches);
  const candidates = group.name === undefined ? index.all : (index.byName.get(group.name) ?? []);
  return candidates.filter(matches ?? group.matches);
}

/** Takes `::text` or `::attr(name)` off the end of a selector; what is left matches the elements. */
function split(tokens: Token[]): { taken: Taken; matched: Token[][] } {
  const last = tokens.at(-1);
  if (last?.type !== SelectorType.PseudoElement) {
    return { taken: { kind: 'node' }, matched: [tokens] };
  }
  const taken = takenBy(last.name, last.data);
  const rest = tokens.slice(0, -1);
  const before = rest.at(-1);
  const any: Token = { type: SelectorType.Universal, namespace: null };
  if (before === undefined) return { taken, matched: [[any]] };
  // `p ::text` is the text in p and in everything below.
  if (before.type === SelectorType.Descendant) {
    return { taken, matched: [rest.slice(0, -1), [...rest, any]] };
  }
  return { taken, matched: [isCombinator(before) ? [...rest, any] : rest] };
}

function takenBy(name: string, data: string | null): Taken {
  if (name === 'text' && data === null) return { kind: 'text' };
  if (name === 'attr' && data) return { kind: 'attr', name: data.trim() };
  throw new Error(`::${name} is not known; there are ::text and ::attr(name)`);
}

function isCombinator(token: Token): boolean {
  return (
    token.type === SelectorType.Child ||
    token.type === SelectorType.Adjacent ||
    token.type === SelectorType.Sibling
  );
}

/** What a query finds in `node` and below it, in the order of the page. */
export function runQuery(query: Query, node: AnyNode): Found[] {
  const outer = scope;
  scope = isDocument(node) ? null : node;
  try {
    const [first] = query;
    if (query.length > 1) return collect(query, node);
    const elements = elementsOf(first!, node);
    if (first!.taken.kind === 'node') return elements;
    if (first!.taken.kind === 'attr') return attributesOf(elements, first!.taken.name);
    return hasNested(elements) ? textsBetween(new Set(elements), node) : textsOf(elements);
  } finally {
    scope = outer;
  }
}

function attributesOf(elements: readonly Element[], name: string): string[] {
  const values: string[] = [];
  for (const element of elements) {
    const value = attributeOf(element, name);
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** In HTML names are in lower case in the tree; in XML as they were written, and asked for. */
function attributeOf({ attribs }: Element, name: string): string | undefined {
  const value: unknown = attribs[name] ?? attribs[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

/** Texts directly in these, of which none is inside of another. */
function textsOf(elements: readonly Element[]): AnyNode[] {
  const texts: AnyNode[] = [];
  for (const element of elements) {
    for (const child of element.children) {
      if (isText(child)) texts.push(child);
      else if (isCDATA(child)) texts.push(...child.children);
    }
  }
  return texts;
}

/** True if one of these, which are in the order of the page, stands inside of another. */
function hasNested(elements: readonly Element[]): boolean {
  for (let i = 1; i < elements.length; i++) {
    const before: ParentNode = elements[i - 1]!;
    for (let up = elements[i]!.parent; up !== null; up = up.parent) if (up === before) return true;
  }
  return false;
}

function textsBetween(elements: ReadonlySet<AnyNode>, root: AnyNode): AnyNode[] {
  const texts: AnyNode[] = [];
  for (let node: AnyNode | null = root; node !== null; node = nextNode(node, root)) {
    if (isText(node) && isIn(node, elements)) texts.push(node);
  }
  return texts;
}

function isIn(text: AnyNode, elements: ReadonlySet<AnyNode>): boolean {
  const { parent } = text;
  return parent !== null && elements.has(isCDATA(parent) ? (parent.parent as AnyNode) : parent);
}

/** Several groups that take different things, in the order of the page. */
function collect(query: Query, root: AnyNode): Found[] {
  const groups = query.map((group) => ({
    taken: group.taken,
    elements: new Set<AnyNode>(elementsOf(group, root)),
  }));
  const found: Found[] = [];
  for (let node: AnyNode | null = root; node !== null; node = nextNode(node, root)) {
    for (const { taken, elements } of groups) {
      if (taken.kind === 'text') {
        if (isText(node) && isIn(node, elements)) found.push(node);
      } else if (elements.has(node)) {
        const one = taken.kind === 'node' ? node : attributeOf(node as Element, taken.name);
        if (one !== undefined) found.push(one);
      }
    }
  }
  return found;
}
