import { UsageError } from '../errors.ts';
import { nameOf, namespaceOf, stringOf, type XNode, type XPathTree } from './xpath-axes.ts';

/** What an expression gives; nodes are in the order of the page. */
export type Value = string | number | boolean | XNode[];

export interface Context {
  readonly tree: XPathTree;
  readonly variables: Readonly<Record<string, string | number | boolean>>;
  node: XNode;
  position: number;
  size: number;
}

/** An expression that is ready to run. */
export interface Compiled {
  /** What it gives; undefined where that shows when it runs. */
  readonly type?: 'string' | 'number' | 'boolean' | 'nodes';
  /** True if it asks for `position()` or `last()`. */
  readonly isPositional?: boolean;
  readonly run: (context: Context) => Value;
  /** Is it true? Without finding all of the nodes. */
  readonly test?: (context: Context) => boolean;
}

export function isNodes(value: Value): value is XNode[] {
  return Array.isArray(value);
}

export function toText(value: Value): string {
  if (isNodes(value)) return value.length === 0 ? '' : stringOf(value[0]!);
  return typeof value === 'number' && Object.is(value, -0) ? '0' : String(value);
}

export function toNumber(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  const text = toText(value).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  // Neither plus nor exponent are numbers (§4.4).
  return /^-?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : NaN;
}

function toBoolean(value: Value): boolean {
  return isNodes(value) ? value.length > 0 : Boolean(value);
}

export function isTrue(expression: Compiled, context: Context): boolean {
  return expression.test ? expression.test(context) : toBoolean(expression.run(context));
}

/** Comparisons as §3.4 has them: of nodes, one that fits is enough. */
export function compare(operator: string, left: Value, right: Value): boolean {
  if (!isNodes(left) && !isNodes(right)) return compareTwo(operator, left, right);
  if (typeof left === 'boolean' || typeof right === 'boolean')
    return compareTwo(operator, toBoolean(left), toBoolean(right));
  if (isNodes(left) && isNodes(right)) {
    const texts = [...new Set(right.map(stringOf))];
    if (operator === '=') {
      const known = new Set(texts);
      return left.some((node) => known.has(stringOf(node)));
    }
    return [...new Set(left.map(stringOf))].some((one) =>
      texts.some((other) => compareTwo(operator, one, other)),
    );
  }
  return isNodes(left)
    ? left.some((node) => compareTwo(operator, stringOf(node), right as string | number))
    : (right as XNode[]).some((node) => compareTwo(operator, left, stringOf(node)));
}

function compareTwo(
  operator: string,
  left: string | number | boolean,
  right: string | number | boolean,
): boolean {
  if (operator === '=' || operator === '!=') {
    const type = [left, right].some((value) => typeof value === 'boolean')
      ? toBoolean
      : [left, right].some((value) => typeof value === 'number')
        ? toNumber
        : toText;
    return (type(left) === type(right)) === (operator === '=');
  }
  const [a, b] = [toNumber(left), toNumber(right)];
  return operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : a >= b;
}

interface XPathFunction {
  readonly least: number;
  readonly most: number;
  readonly type: NonNullable<Compiled['type']>;
  readonly isPositional?: boolean;
  readonly run: (context: Context, args: readonly Compiled[]) => Value;
}

/** A function of `least` to `most` arguments. */
function of(
  type: XPathFunction['type'],
  least: number,
  most: number,
  run: (context: Context, ...args: Value[]) => Value,
): XPathFunction {
  return {
    type,
    least,
    most,
    run: (context, args) => run(context, ...args.map((one) => one.run(context))),
  };
}

const texts = (
  run: (...args: string[]) => string | number | boolean,
  type: 'string' | 'number' | 'boolean',
  least: number,
  most = least,
): XPathFunction => of(type, least, most, (_, ...args) => run(...args.map(toText)));

/** A function of a text, by default that of the node at hand. */
const ofText = (run: (text: string) => string | number, type: 'string' | 'number'): XPathFunction =>
  of(type, 0, 1, ({ node }, value = [node]) => run(toText(value)));

/** A function of the first of some nodes, by default the node at hand. */
const ofNode = (run: (node: XNode, isXml: boolean) => string): XPathFunction =>
  of('string', 0, 1, ({ node, tree }, value = [node]) => {
    const [first] = nodes(value);
    return first === undefined ? '' : run(first, tree.isXml);
  });

function nodes(value: Value): XNode[] {
  if (isNodes(value)) return value;
  throw new UsageError(`A path was expected where there is ${JSON.stringify(value)}.`);
}

const round = (value: number): number => Math.floor(value + 0.5);

function substring(text: string, from: Value, length: Value = Infinity): string {
  const start = round(toNumber(from));
  const end = start + round(toNumber(length));
  return Array.from(text)
    .filter((_, at) => at + 1 >= start && at + 1 < end)
    .join('');
}

function translate(text: string, from: string, to: string): string {
  const [sources, targets] = [Array.from(from), Array.from(to)];
  const map = new Map<string, string>();
  for (const [at, char] of sources.entries()) if (!map.has(char)) map.set(char, targets[at] ?? '');
  return Array.from(text, (char) => map.get(char) ?? char).join('');
}

function isLanguage({ node }: Context, wanted: Value): boolean {
  for (let up: XNode | null = node; up !== null; up = up.parent) {
    const attributes = 'attribs' in up ? up.attribs : undefined;
    const found = attributes?.['xml:lang'] ?? attributes?.['lang'];
    if (found !== undefined)
      return `${found.toLowerCase()}-`.startsWith(`${toText(wanted).toLowerCase()}-`);
  }
  return false;
}

function byId({ tree, node }: Context, value: Value): XNode[] {
  const wanted = new Set(
    (isNodes(value) ? value.map(stringOf).join(' ') : toText(value)).split(/\s+/),
  );
  wanted.delete('');
  const root = node.type === 'attribute' ? tree.root : node;
  return tree.all(
    'descendant-or-self',
    [tree.root ?? root],
    (one) => 'attribs' in one && wanted.delete(one.attribs.id ?? ''),
  );
}

function regex(pattern: string, flags = ''): RegExp {
  return new RegExp(pattern, flags.replace(/[^gim]/g, '') + 'u');
}

/** Of both spellings of a name, `set:` functions by what they keep. */
function keeping(keep: (node: XNode, others: ReadonlySet<XNode>) => boolean): XPathFunction {
  return of('nodes', 2, 2, (_, left, right) => {
    const others = new Set(nodes(right!));
    return nodes(left!).filter((node) => keep(node, others));
  });
}

/** Those before (or after) the first of `right` that is in `left`; all of them where `right` is empty. */
function beside(isBefore: boolean): XPathFunction {
  return of('nodes', 2, 2, (_, left, right) => {
    const [first] = nodes(right!);
    if (first === undefined) return nodes(left!);
    const place = nodes(left!).indexOf(first);
    if (place < 0) return [];
    return isBefore ? nodes(left!).slice(0, place) : nodes(left!).slice(place + 1);
  });
}

/** The functions of XPath 1.0, of EXSLT's regular expressions and sets, and Scrapy's `has-class`. */
export const functions: Readonly<Record<string, XPathFunction>> = {
  last: { ...of('number', 0, 0, ({ size }) => size), isPositional: true },
  position: { ...of('number', 0, 0, ({ position }) => position), isPositional: true },
  count: of('number', 1, 1, (_, value) => nodes(value!).length),
  id: of('nodes', 1, 1, (context, value) => byId(context, value!)),
  'local-name': ofNode((node, isXml) => nameOf(node, isXml).local),
  'namespace-uri': ofNode(namespaceOf),
  name: ofNode((node, isXml) => {
    const { prefix, local } = nameOf(node, isXml);
    return prefix === '' ? local : `${prefix}:${local}`;
  }),
  string: ofText((text) => text, 'string'),
  concat: texts((...parts) => parts.join(''), 'string', 2, Infinity),
  'starts-with': texts((text, start) => text!.startsWith(start!), 'boolean', 2),
  contains: texts((text, part) => text!.includes(part!), 'boolean', 2),
  'substring-before': texts(
    (text, part) => text!.slice(0, Math.max(0, text!.indexOf(part!))),
    'string',
    2,
  ),
  'substring-after': texts(
    (text, part) => (text!.includes(part!) ? text!.slice(text!.indexOf(part!) + part!.length) : ''),
    'string',
    2,
  ),
  substring: of('string', 2, 3, (_, text, from, length) => substring(toText(text!), from!, length)),
  'string-length': ofText((text) => Array.from(text).length, 'number'),
  'normalize-space': ofText(
    (text) => text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, ''),
    'string',
  ),
  translate: texts((text, from, to) => translate(text!, from!, to!), 'string', 3),
  boolean: {
    type: 'boolean',
    least: 1,
    most: 1,
    run: (context, [value]) => isTrue(value!, context),
  },
  not: { type: 'boolean', least: 1, most: 1, run: (context, [value]) => !isTrue(value!, context) },
  true: of('boolean', 0, 0, () => true),
  false: of('boolean', 0, 0, () => false),
  lang: of('boolean', 1, 1, (context, value) => isLanguage(context, value!)),
  number: of('number', 0, 1, ({ node }, value = [node]) => toNumber(value)),
  sum: of('number', 1, 1, (_, value) =>
    nodes(value!).reduce((sum, node) => sum + toNumber(stringOf(node)), 0),
  ),
  floor: of('number', 1, 1, (_, value) => Math.floor(toNumber(value!))),
  ceiling: of('number', 1, 1, (_, value) => Math.ceil(toNumber(value!))),
  round: of('number', 1, 1, (_, value) => round(toNumber(value!))),
  're:test': texts((text, pattern, flags) => regex(pattern!, flags).test(text!), 'boolean', 2, 3),
  're:replace': texts(
    (text, pattern, flags, by) => text!.replace(regex(pattern!, flags), by!),
    'string',
    4,
  ),
  'set:difference': keeping((node, others) => !others.has(node)),
  'set:intersection': keeping((node, others) => others.has(node)),
  'set:has-same-node': of('boolean', 2, 2, (_, left, right) => {
    const others = new Set(nodes(right!));
    return nodes(left!).some((node) => others.has(node));
  }),
  'set:distinct': of('nodes', 1, 1, (_, value) => {
    const seen = new Set<string>();
    return nodes(value!).filter((node) => seen.size < seen.add(stringOf(node)).size);
  }),
  'set:leading': beside(true),
  'set:trailing': beside(false),
  'has-class': of('boolean', 1, Infinity, ({ node }, ...names) => {
    if (node.type === 'attribute' || !('attribs' in node)) return false;
    const own = new Set((node.attribs.class ?? '').split(/[ \t\r\n\f]+/));
    return names.every((name) => own.has(toText(name)));
  }),
};
