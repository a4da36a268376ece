// The queries of query.ts once more, for pages on which those take long: a page of a few hundred levels, or of a
// hundred thousand siblings, makes `a b c`, `a ~ b` and `:nth-child()` look at the same nodes over and over. Here each
// node is looked at once, and what was found is remembered. That costs more where pages are as usual.
import { compile, type Options } from 'css-select';
import { type Selector as Token, SelectorType } from 'css-what';
import { type AnyNode, type Element, isTag } from 'domhandler';
import { prevElementSibling } from 'domutils';
import checkOf from 'nth-check';

type Matches = (element: Element) => boolean;

/** A matcher for one query; what it remembers holds for one run. */
export function compileThorough(
  selectors: readonly Token[][],
  options: Options<AnyNode, Element>,
): Matches {
  const pseudos: Record<string, (element: Element, rule?: string | null) => boolean> = {
    'nth-child': byPosition(false, false),
    'nth-last-child': byPosition(true, false),
    'nth-of-type': byPosition(false, true),
    'nth-last-of-type': byPosition(true, true),
  };
  const own: Options<AnyNode, Element> = { ...options, pseudos, cacheResults: true };
  let count = 0;

  /** `a b c` as `c` with a pseudo-class that says if it is inside of `a b`. */
  function nested(tokens: Token[]): Token[] {
    const at = tokens.findLastIndex(({ type }, i) => i > 0 && isFar(type));
    if (at < 0) return tokens;
    const name = `-inside-${++count}`;
    const before = compile<AnyNode, Element>([nested(tokens.slice(0, at))], own) as Matches;
    pseudos[name] = remembering(
      before,
      tokens[at]!.type === SelectorType.Descendant
        ? (element) => parentOf(element, options)
        : prevElementSibling,
    );
    return [{ type: SelectorType.Pseudo, name, data: null }, ...tokens.slice(at + 1)];
  }

  return compile<AnyNode, Element>(structuredClone(selectors).map(nested), own) as Matches;
}

function isFar(type: SelectorType): boolean {
  return type === SelectorType.Descendant || type === SelectorType.Sibling;
}

function parentOf(element: Element, { adapter }: Options<AnyNode, Element>): Element | null {
  const parent = adapter!.getParent(element);
  return parent !== null && isTag(parent) ? parent : null;
}

/** True for an element if anything that `step` leads to from it matches. */
function remembering(matches: Matches, step: (element: Element) => Element | null): Matches {
  const known = new Map<Element, boolean>();
  return (element) => {
    const path: Element[] = [];
    let at = element;
    let result = known.get(at);
    while (result === undefined) {
      path.push(at);
      const next = step(at);
      if (next === null) result = false;
      else result = matches(next) || known.get((at = next));
    }
    for (const one of path) known.set(one, result);
    return result;
  };
}

/** `:nth-child()` and its like, counting the children of each parent once. */
function byPosition(
  fromEnd: boolean,
  ofType: boolean,
): (element: Element, rule?: string | null) => boolean {
  const positions = new Map<AnyNode | null, Map<Element, number>>();
  const checks = new Map<string | null | undefined, (index: number) => boolean>();
  return (element, rule) => {
    const { parent } = element;
    let known = positions.get(parent);
    if (known === undefined) {
      const elements = (parent === null ? [element] : parent.children).filter(isTag);
      known = count(fromEnd ? elements.toReversed() : elements, ofType);
      positions.set(parent, known);
    }
    let check = checks.get(rule);
    if (check === undefined) checks.set(rule, (check = checkOf(rule ?? '')));
    return check(known.get(element) ?? 0);
  };
}

function count(elements: readonly Element[], ofType: boolean): Map<Element, number> {
  const positions = new Map<Element, number>();
  const next = new Map<string, number>();
  for (const element of elements) {
    const kind = ofType ? element.name : '';
    const position = next.get(kind) ?? 0;
    next.set(kind, position + 1);
    positions.set(element, position);
  }
  return positions;
}
