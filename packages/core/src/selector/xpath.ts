import { type AnyNode, isDocument, isTag } from 'domhandler';

import { ParseTimeoutError, UsageError } from '../errors.ts';
import { beginSteps } from './budget.ts';
import type { Found } from './query.ts';
import { isReverse, type Matches, testOf, type XNode, XPathTree } from './xpath-axes.ts';
import { type Expression, parseXPath, type Step } from './xpath-parser.ts';
import {
  compare,
  type Compiled,
  type Context,
  functions,
  isNodes,
  isTrue,
  toNumber,
  toText,
} from './xpath-values.ts';

export interface XPathOptions {
  /** Values of `$name` in the query: what comes from outside never has to be quoted. */
  readonly variables?: Readonly<Record<string, string | number | boolean>>;
  /** Prefixes of the query and the namespaces they stand for; others are prefixes as the document writes them. */
  readonly namespaces?: Readonly<Record<string, string>>;
}

/** Queries are few and used for every page. */
const known = new Map<string, Compiled>();
const mostKnown = 2000;
const none = {};

/**
 * What an XPath 1.0 finds, seen from `node`: nodes, the value of attributes, or the one text, number or truth it gives.
 *
 * @throws UsageError for what is no XPath.
 * @throws ParseTimeoutError when it has taken `PARSE_TIMEOUT`.
 */
export function runXPath(
  query: string,
  node: AnyNode,
  isXml: boolean,
  options: XPathOptions = none,
): Found[] {
  const { variables = none, namespaces = none } = options;
  try {
    const compiled = compileXPath(query, isXml, namespaces);
    beginSteps(node);
    const tree = new XPathTree(node, isXml);
    const value = compiled.run({ tree, variables, node: startOf(node), position: 1, size: 1 });
    if (isNodes(value)) {
      // The document itself is nothing to be had.
      const found = value.filter((one) => one.type !== 'root');
      return found.map((one) => (one.type === 'attribute' ? one.value : one));
    }
    return [typeof value === 'boolean' ? String(Number(value)) : toText(value)];
  } catch (cause) {
    if (cause instanceof ParseTimeoutError) throw cause;
    throw new UsageError(
      `The XPath ${JSON.stringify(query)} cannot be used: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}

/** A page is seen from its root element, as in Scrapy, unless there are others beside it. */
function startOf(node: AnyNode): AnyNode {
  if (!isDocument(node)) return node;
  const elements = node.children.filter(isTag);
  return elements.length === 1 ? elements[0]! : node;
}

function compileXPath(
  query: string,
  isXml: boolean,
  namespaces: Readonly<Record<string, string>>,
): Compiled {
  const key = JSON.stringify([query, isXml, namespaces]);
  let compiled = known.get(key);
  if (compiled === undefined) {
    compiled = new Compiler(isXml, namespaces).expression(parseXPath(query));
    if (known.size >= mostKnown) known.clear();
    known.set(key, compiled);
  }
  return compiled;
}

/** A step that is ready to run. */
interface Stride {
  readonly axis: Step['axis'];
  readonly matches: Matches;
  /** Name of the elements it looks for, if it looks for those of one name. */
  readonly name: string | undefined;
  readonly predicates: readonly Compiled[];
  /** True if a predicate counts, so that each node must be started from by itself. */
  readonly counts: boolean;
  /** True for `node()` alone. */
  readonly isAny: boolean;
}

class Compiler {
  readonly #isXml: boolean;
  readonly #namespaces: Readonly<Record<string, string>>;

  constructor(isXml: boolean, namespaces: Readonly<Record<string, string>>) {
    this.#isXml = isXml;
    this.#namespaces = namespaces;
  }

  expression(expression: Expression): Compiled {
    switch (expression.kind) {
      case 'number':
      case 'string': {
        const { value } = expression;
        return { type: expression.kind, run: () => value };
      }
      case 'variable': {
        const { name } = expression;
        return {
          run: ({ variables }) => {
            if (Object.hasOwn(variables, name)) return variables[name]!;
            throw new UsageError(`$${name} has no value. Pass it in options.variables.`);
          },
        };
      }
      case 'negate': {
        const of = this.expression(expression.of);
        return { ...placeOf(of), type: 'number', run: (context) => -toNumber(of.run(context)) };
      }
      case 'call':
        return this.#call(expression.name, expression.args);
      case 'operator':
        return this.#operator(expression.operator, expression.left, expression.right);
      case 'path':
        return this.#path(expression);
    }
  }

  #call(name: string, given: readonly Expression[]): Compiled {
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (called === undefined) throw new Error(`the function ${name}() is not known`);
    if (given.length < called.least || given.length > called.most)
      throw new Error(`${name}() is called with ${given.length} arguments`);
    const args = given.map((one) => this.expression(one));
    return {
      type: called.type,
      ...placeOf(called, ...args),
      run: (context) => called.run(context, args),
    };
  }

  #operator(operator: string, leftOne: Expression, rightOne: Expression): Compiled {
    const [left, right] = [this.expression(leftOne), this.expression(rightOne)];
    const place = placeOf(left, right);
    if (operator === 'or' || operator === 'and') {
      const stops = operator === 'or';
      const run = (context: Context): boolean =>
        isTrue(left, context) === stops ? stops : isTrue(right, context);
      return { ...place, type: 'boolean', run };
    }
    if (operator === '|') {
      return {
        ...place,
        type: 'nodes',
        run: (context) => {
          const [a, b] = [left.run(context), right.run(context)];
          if (!isNodes(a) || !isNodes(b)) throw new Error('| joins two paths');
          return context.tree.sort([...new Set([...a, ...b])]);
        },
      };
    }
    const calculate = arithmetic[operator];
    if (calculate !== undefined)
      return {
        ...place,
        type: 'number',
        run: (context) => calculate(toNumber(left.run(context)), toNumber(right.run(context))),
      };
    return {
      ...place,
      type: 'boolean',
      run: (context) => compare(operator, left.run(context), right.run(context)),
    };
  }

  #path({ from, predicates: given, steps }: Expression & { kind: 'path' }): Compiled {
    const strides = this.#strides(steps);
    const predicates = given.map((one) => this.expression(one));
    const source = typeof from === 'string' ? undefined : this.expression(from);
    const start = (context: Context): XNode[] => {
      if (source === undefined) return [from === 'root' ? context.tree.root : context.node];
      const value = source.run(context);
      if (!isNodes(value)) throw new Error('only what a path gives has steps and predicates');
      return predicates.reduce((nodes, one) => filtered(nodes, one, context), value);
    };
    return {
      type: 'nodes',
      // What is in its own predicates counts for itself.
      ...placeOf(...(source ? [source] : [])),
      run: (context) => strides.reduce((nodes, one) => stride(nodes, one, context), start(context)),
      test: (context) => {
        const last = strides.at(-1);
        const before = strides
          .slice(0, -1)
          .reduce((nodes, one) => stride(nodes, one, context), start(context));
        return last === undefined
          ? before.length > 0
          : before.some((node) => reaches(node, last, context));
      },
    };
  }

  #strides(steps: readonly Step[]): Stride[] {
    const strides: Stride[] = [];
    for (const { axis, test, predicates: given } of steps) {
      const predicates = given.map((one) => this.expression(one));
      const counts = predicates.some(isCounting);
      const next: Stride = {
        axis,
        matches: testOf(test, axis, this.#isXml, this.#namespaces),
        name:
          test.kind === 'name' && test.prefix === '' && test.name !== '*' ? test.name : undefined,
        predicates,
        counts,
        isAny: test.kind === 'node' && predicates.length === 0,
      };
      const before = strides.at(-1);
      const isAnywhere =
        axis === 'child' && !counts && before?.axis === 'descendant-or-self' && before.isAny;
      // `//a` is every a below; that counts only where a place is asked for.
      if (isAnywhere) strides[strides.length - 1] = { ...next, axis: 'descendant' };
      else strides.push(next);
    }
    return strides;
  }
}

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  div: (a, b) => a / b,
  mod: (a, b) => a % b,
};

function placeOf(
  ...parts: readonly Pick<Compiled, 'isPositional'>[]
): Pick<Compiled, 'isPositional'> {
  return { isPositional: parts.some(({ isPositional }) => isPositional === true) };
}

/** True for a predicate that is a number, or may be, or asks for a place. */
function isCounting({ type, isPositional }: Compiled): boolean {
  return isPositional === true || type === 'number' || type === undefined;
}

function filtered(nodes: XNode[], predicate: Compiled, { tree, variables }: Context): XNode[] {
  const context: Context = { tree, variables, node: tree.root, position: 0, size: nodes.length };
  return nodes.filter((node, at) => {
    context.node = node;
    context.position = at + 1;
    if (!isCounting(predicate)) return isTrue(predicate, context);
    const value = predicate.run(context);
    return typeof value === 'number' ? value === at + 1 : isTrue({ run: () => value }, context);
  });
}

/** From nodes in the order of the page to others in it. */
function stride(
  from: XNode[],
  { axis, matches, name, predicates, counts }: Stride,
  context: Context,
): XNode[] {
  const { tree } = context;
  if (!counts) {
    const known =
      axis === 'descendant' && name !== undefined && from.length === 1
        ? tree.byName(from[0]!, name)
        : undefined;
    const found: XNode[] = known ? [...known] : tree.all(axis, from, matches);
    return predicates.reduce((nodes, one) => filtered(nodes, one, context), found);
  }
  const found = new Set<XNode>();
  for (const node of from) {
    const nodes = [...tree.one(axis, node)].filter(matches);
    for (const one of predicates.reduce(
      (left, predicate) => filtered(left, predicate, context),
      nodes,
    ))
      found.add(one);
  }
  const all = [...found];
  if (from.length === 1) return isReverse(axis) ? all.reverse() : all;
  return tree.sort(all);
}

function reaches(node: XNode, last: Stride, context: Context): boolean {
  if (last.predicates.length > 0) return stride([node], last, context).length > 0;
  for (const one of context.tree.one(last.axis, node)) if (last.matches(one)) return true;
  return false;
}
