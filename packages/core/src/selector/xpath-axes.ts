import { type AnyNode, type Element, isCDATA, isDocument, isTag, isText } from 'domhandler';

import { spend } from './budget.ts';
import { elementIndex } from './page-tree.ts';
import { nextNode, textBelow } from './walk.ts';
import type { Axis, NodeTest } from './xpath-parser.ts';

/** An attribute as a node. */
export class AttributeNode {
  readonly type = 'attribute';
  readonly parent: Element;
  readonly name: string;
  readonly value: string;

  constructor(parent: Element, name: string, value: string) {
    this.parent = parent;
    this.name = name;
    this.value = value;
  }
}

export type XNode = AnyNode | AttributeNode;
export type Matches = (node: XNode) => boolean;

/** The tree as XPath sees it: attributes are nodes, CDATA is text, doctype and XML declaration are nothing. */
export class XPathTree {
  readonly root: AnyNode;
  readonly isXml: boolean;
  readonly #attributes = new Map<Element, readonly AttributeNode[]>();
  #order: Map<XNode, number> | undefined;

  constructor(node: AnyNode, isXml: boolean) {
    let root = node;
    while (root.parent !== null) root = root.parent;
    this.root = root;
    this.isXml = isXml;
  }

  attributesOf(node: XNode): readonly AttributeNode[] {
    if (node.type === 'attribute' || !isTag(node)) return [];
    let attributes = this.#attributes.get(node);
    if (attributes === undefined) {
      attributes = Object.entries(node.attribs)
        .filter(([name]) => !(this.isXml && /^xmlns(?::|$)/.test(name)))
        .map(([name, value]) => new AttributeNode(node, name, value));
      this.#attributes.set(node, attributes);
    }
    return attributes;
  }

  /** Puts nodes into the order of the page. */
  sort(nodes: XNode[]): XNode[] {
    if (nodes.length < 2) return nodes;
    const order = (this.#order ??= this.#count());
    // An attribute comes after its element and before what is inside of that.
    const place = (node: XNode): number =>
      node.type === 'attribute'
        ? order.get(node.parent)! + 0.5 + this.attributesOf(node.parent).indexOf(node) / 1e6
        : order.get(node)!;
    return nodes.sort((a, b) => place(a) - place(b));
  }

  #count(): Map<XNode, number> {
    const order = new Map<XNode, number>();
    for (let node: AnyNode | null = this.root; node !== null; node = nextNode(node, this.root))
      order.set(node, order.size);
    return order;
  }

  /**
   * What an axis gives for nodes that are in the order of the page: without repeats, in that order. No part of the page
   * is looked at twice, so that a page of many or deep elements costs what its length says.
   */
  all(axis: Axis, from: readonly XNode[], matches: Matches): XNode[] {
    if (from.length === 1) {
      const found = [...this.one(axis, from[0]!)].filter(matches);
      return isReverse(axis) ? found.reverse() : found;
    }
    const found = new Set<XNode>();
    const take = (nodes: Iterable<XNode>): void => {
      for (const node of nodes) if (matches(node)) found.add(node);
    };
    switch (axis) {
      case 'self':
      case 'attribute':
        for (const node of from) take(this.one(axis, node));
        return [...found];
      case 'descendant':
      case 'descendant-or-self': {
        const seen = new Set<XNode>();
        for (const node of from) {
          if (seen.has(node.type === 'attribute' ? node.parent : node)) {
            // Only an attribute was not among what was below the one before it.
            if (axis === 'descendant-or-self' && node.type === 'attribute') take([node]);
            continue;
          }
          for (const below of this.one(axis, node)) {
            seen.add(below);
            if (matches(below)) found.add(below);
          }
        }
        return axis === 'descendant' ? [...found] : this.sort([...found]);
      }
      case 'ancestor':
      case 'ancestor-or-self': {
        const seen = new Set<XNode>();
        for (const node of from) {
          if (axis === 'ancestor-or-self') take([node]);
          for (let up = parentOf(node); up !== null && !seen.has(up); up = parentOf(up)) {
            seen.add(up);
            take([up]);
          }
        }
        break;
      }
      case 'following-sibling':
      case 'preceding-sibling': {
        // The first, or the last, of a parent's children has the siblings of the others too.
        const seen = new Set<XNode | null>();
        for (const node of axis === 'following-sibling' ? from : from.toReversed()) {
          const parent = parentOf(node);
          if (node.type === 'attribute' || seen.has(parent)) continue;
          seen.add(parent);
          take(this.one(axis, node));
        }
        break;
      }
      case 'child':
      case 'parent':
      case 'following':
      case 'preceding':
        for (const node of from) take(this.one(axis, node));
    }
    return this.sort([...found]);
  }

  /** What an axis gives for one node, the nearest first. */
  one(axis: Axis, node: XNode): Iterable<XNode> {
    switch (axis) {
      case 'self':
        return [node];
      case 'attribute':
        return this.attributesOf(node);
      case 'child':
        return childrenOf(node);
      case 'parent': {
        const parent = parentOf(node);
        return parent === null ? [] : [parent];
      }
      case 'descendant':
        return descendantsOf(node);
      case 'descendant-or-self':
        return withSelf(node, descendantsOf(node));
      case 'ancestor':
        return ancestorsOf(node);
      case 'ancestor-or-self':
        return withSelf(node, ancestorsOf(node));
      case 'following-sibling':
        return siblingsOf(node, 'next');
      case 'preceding-sibling':
        return siblingsOf(node, 'prev');
      case 'following':
        return this.#following(node);
      case 'preceding':
        return this.#preceding(node);
    }
  }

  *#following(node: XNode): Generator<XNode> {
    // What follows an attribute begins inside of its element.
    if (node.type === 'attribute') {
      yield* descendantsOf(node.parent);
      yield* this.#following(node.parent);
      return;
    }
    let up: AnyNode | null = node;
    while (up !== null && up.next === null) up = up.parent as AnyNode | null;
    for (let at = up && (up.next as AnyNode | null); at !== null; at = nextNode(at, this.root)) {
      spend(1);
      if (isNode(at)) yield at;
    }
  }

  #preceding(node: XNode): XNode[] {
    const element = node.type === 'attribute' ? node.parent : node;
    const above = new Set<XNode>(ancestorsOf(element));
    const found: XNode[] = [];
    let at: AnyNode | null = this.root;
    for (; at !== null && at !== element; at = nextNode(at, this.root)) {
      spend(1);
      if (isNode(at) && !above.has(at)) found.push(at);
    }
    return found.reverse();
  }

  /** The elements of a whole page that have a name, where they are known. */
  byName(node: XNode, name: string): readonly Element[] | undefined {
    if (node.type === 'attribute' || !isDocument(node)) return undefined;
    const index = elementIndex(node);
    return index && (index.byName.get(name) ?? []);
  }
}

export function isReverse(axis: Axis): boolean {
  return /^(?:ancestor|preceding)/.test(axis);
}

/** False for CDATA, which is seen through, and for what is no node to XPath. */
function isNode(node: AnyNode): boolean {
  return !isCDATA(node) && !(node.type === 'directive' && /^(?:!|\?xml$)/.test(node.name));
}

function parentOf(node: XNode): XNode | null {
  const parent = node.parent as AnyNode | null;
  return parent !== null && isCDATA(parent) ? (parent.parent as AnyNode) : parent;
}

function* withSelf(node: XNode, others: Iterable<XNode>): Generator<XNode> {
  yield node;
  yield* others;
}

function* childrenOf(node: XNode): Generator<XNode> {
  if (node.type === 'attribute' || !('children' in node)) return;
  for (const child of node.children as AnyNode[]) {
    spend(1);
    if (isCDATA(child)) yield* child.children as AnyNode[];
    else if (isNode(child)) yield child;
  }
}

function* descendantsOf(node: XNode): Generator<XNode> {
  if (node.type === 'attribute') return;
  for (let at = nextNode(node, node); at !== null; at = nextNode(at, node)) {
    spend(1);
    if (isNode(at)) yield at;
  }
}

function* ancestorsOf(node: XNode): Generator<XNode> {
  for (let up = parentOf(node); up !== null; up = parentOf(up)) {
    spend(1);
    yield up;
  }
}

function* siblingsOf(node: XNode, direction: 'next' | 'prev'): Generator<XNode> {
  if (node.type === 'attribute') return;
  // A text in CDATA is alone there.
  const own =
    node.parent !== null && isCDATA(node.parent as AnyNode) ? (node.parent as AnyNode) : node;
  for (
    let at = own[direction] as AnyNode | null;
    at !== null;
    at = at[direction] as AnyNode | null
  ) {
    spend(1);
    if (isCDATA(at)) yield* at.children as AnyNode[];
    else if (isNode(at)) yield at;
  }
}

/** The text of a node as XPath has it. */
export function stringOf(node: XNode): string {
  if (node.type === 'attribute') return node.value;
  if (node.type === 'comment') return node.data;
  if (node.type === 'directive') return node.data.slice(node.name.length).trimStart();
  const text = textBelow(node);
  spend(1 + (text.length >> 3));
  return text;
}

/** Prefix and local name; in HTML a name is one word, whatever is in it. */
export function nameOf(
  node: XNode,
  isXml: boolean,
): { readonly prefix: string; readonly local: string } {
  const name = node.type === 'attribute' ? node.name : isTag(node) ? node.name : '';
  if (node.type === 'directive') return { prefix: '', local: node.name.slice(1) };
  const colon = isXml ? name.indexOf(':') : -1;
  return { prefix: name.slice(0, Math.max(colon, 0)), local: name.slice(colon + 1) };
}

/** The namespace of an element or attribute of XML, as it is declared there or above. */
export function namespaceOf(node: XNode, isXml: boolean): string {
  if (!isXml || (node.type !== 'attribute' && !isTag(node))) return '';
  const { prefix } = nameOf(node, isXml);
  if (prefix === '' && node.type === 'attribute') return '';
  if (prefix === 'xml') return 'http://www.w3.org/XML/1998/namespace';
  const declaration = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
  for (let up: XNode | null = node; up !== null; up = parentOf(up)) {
    const uri = up.type !== 'attribute' && isTag(up) ? up.attribs[declaration] : undefined;
    if (uri !== undefined) return uri;
  }
  return '';
}

/** What a node test asks of the nodes of an axis. */
export function testOf(
  test: NodeTest,
  axis: Axis,
  isXml: boolean,
  namespaces: Readonly<Record<string, string>>,
): Matches {
  switch (test.kind) {
    case 'node':
      return () => true;
    case 'text':
      return (node) => node.type !== 'attribute' && isText(node);
    case 'comment':
      return ({ type }) => type === 'comment';
    case 'processing-instruction':
      return (node) =>
        node.type === 'directive' && (test.target === undefined || node.name === `?${test.target}`);
    case 'name': {
      const { prefix, name } = test;
      const isKind: Matches =
        axis === 'attribute'
          ? ({ type }) => type === 'attribute'
          : (node) => node.type !== 'attribute' && isTag(node);
      if (prefix === '' && name === '*') return isKind;
      // Without a prefix the name is as the page writes it: a default namespace is not asked for.
      if (prefix === '') return (node) => isKind(node) && (node as Element).name === name;
      const uri = Object.hasOwn(namespaces, prefix) ? namespaces[prefix] : undefined;
      return (node) => {
        if (!isKind(node)) return false;
        const own = nameOf(node, isXml);
        if (name !== '*' && own.local !== name) return false;
        // A prefix that is not registered is the one that the page writes.
        return uri === undefined ? own.prefix === prefix : namespaceOf(node, isXml) === uri;
      };
    }
  }
}
