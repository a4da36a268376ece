import { compile, selectAll } from 'css-select';
import { parse, type Selector as Token, SelectorType } from 'css-what';
import type { AnyNode, Element, ParentNode } from 'domhandler';
import * as domutils from 'domutils';

import { UsageError } from '../errors.ts';

/** What a group of a query takes from the elements it matches. */
type Taken =
  | { readonly kind: 'node' }
  | { readonly kind: 'text' }
  | { readonly kind: 'attr'; readonly name: string };

interface Group {
  readonly select: (nodes: AnyNode[]) => Element[];
  readonly taken: Taken;
}

/** A CSS selector, compiled. A result is an element, a text node, or the value of an attribute. */
export type Query = readonly Group[];
export type Found = AnyNode | string;

/** Queries are few and used for every page. */
const queries = new Map<string, Query>();
const mostQueries = 2000;

/** Combinators do not look above the element that a query starts from. */
let scope: AnyNode | null = null;
const adapter = {
  ...domutils,
  isTag: domutils.isTag as (node: AnyNode) => node is Element,
  getParent: (node: Element): ParentNode | null => (node === scope ? null : node.parent),
};

/** @throws UsageError for a selector that is none. */
export function compileQuery(text: string): Query {
  let query = queries.get(text);
  if (query === undefined) {
    query = build(text);
    if (queries.size >= mostQueries) queries.clear();
    queries.set(text, query);
  }
  return query;
}

function build(text: string): Query {
  try {
    // Neighbours that take the same are one query, so that their results come in the order of the page.
    const groups: { tokens: Token[][]; taken: Taken }[] = [];
    for (const tokens of parse(text)) {
      const taken = takenBy(tokens);
      const last = groups.at(-1);
      if (last && JSON.stringify(last.taken) === JSON.stringify(taken)) last.tokens.push(tokens);
      else groups.push({ tokens: [tokens], taken });
    }
    return groups.map(({ tokens, taken }) => {
      const compiled = compile<AnyNode, Element>(tokens, { adapter });
      return {
        taken,
        select: (nodes) => selectAll<AnyNode, Element>(compiled, nodes, { adapter }),
      };
    });
  } catch (cause) {
    throw new UsageError(
      `${JSON.stringify(text)} is not a CSS selector: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** Takes `::text` or `::attr(name)` off the end of a selector. */
function takenBy(tokens: Token[]): Taken {
  const last = tokens.at(-1);
  if (last?.type !== SelectorType.PseudoElement) return { kind: 'node' };
  tokens.pop();
  const before = tokens.at(-1);
  // `p ::text` is the text of everything below p.
  if (before === undefined || isCombinator(before))
    tokens.push({ type: SelectorType.Universal, namespace: null });
  if (last.name === 'text') return { kind: 'text' };
  if (last.name === 'attr' && last.data)
    return { kind: 'attr', name: last.data.trim().toLowerCase() };
  throw new Error(`::${last.name} is not known; there are ::text and ::attr(name)`);
}

function isCombinator(token: Token): boolean {
  return (
    token.type === SelectorType.Descendant ||
    token.type === SelectorType.Child ||
    token.type === SelectorType.Adjacent ||
    token.type === SelectorType.Sibling
  );
}

/** What a query finds in `node` and below it. */
export function runQuery(query: Query, node: AnyNode, found: Found[]): void {
  const outer = scope;
  // The document itself is no element; below it everything may match.
  const isDocument = node.type === 'root';
  const context = isDocument ? node.children : [node];
  scope = isDocument ? null : node;
  try {
    for (const { select, taken } of query) {
      const elements = select(context);
      if (taken.kind === 'text' && hasNested(elements)) {
        textsIn(context, new Set(elements), found);
        continue;
      }
      for (const element of elements) {
        if (taken.kind === 'node') found.push(element);
        else if (taken.kind === 'attr') {
          const value = element.attribs[taken.name];
          if (value !== undefined) found.push(value);
        } else {
          for (const child of element.children) if (domutils.isText(child)) found.push(child);
        }
      }
    }
  } finally {
    scope = outer;
  }
}

/** True if one of these, which are in the order of the page, stands inside another. */
function hasNested(elements: readonly Element[]): boolean {
  for (let i = 1; i < elements.length; i++) {
    const before = elements[i - 1]!;
    for (let up = elements[i]!.parent; up !== null; up = up.parent)
      if (up === (before as ParentNode)) return true;
  }
  return false;
}

/** Texts directly in one of `elements`, in the order of the page. */
function textsIn(nodes: readonly AnyNode[], elements: ReadonlySet<AnyNode>, found: Found[]): void {
  for (const node of nodes) {
    if (!domutils.hasChildren(node)) continue;
    const isWanted = elements.has(node);
    for (const child of node.children) {
      if (!domutils.isText(child)) textsIn([child], elements, found);
      else if (isWanted) found.push(child);
    }
  }
}
