// XPath 1.0 as text to its parts: https://www.w3.org/TR/1999/REC-xpath-19991116/

export type Axis =
  | 'ancestor'
  | 'ancestor-or-self'
  | 'attribute'
  | 'child'
  | 'descendant'
  | 'descendant-or-self'
  | 'following'
  | 'following-sibling'
  | 'parent'
  | 'preceding'
  | 'preceding-sibling'
  | 'self';

export type NodeTest =
  | { readonly kind: 'name'; readonly prefix: string; readonly name: string }
  | { readonly kind: 'node' | 'text' | 'comment' }
  | { readonly kind: 'processing-instruction'; readonly target: string | undefined };

export interface Step {
  readonly axis: Axis;
  readonly test: NodeTest;
  readonly predicates: readonly Expression[];
}

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'negate'; readonly of: Expression }
  | {
      readonly kind: 'operator';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'path';
      /** From the root of the page, from the node at hand, or from what an expression gives. */
      readonly from: 'root' | 'here' | Expression;
      /** Of what the expression gives. */
      readonly predicates: readonly Expression[];
      readonly steps: readonly Step[];
    };

const axes: ReadonlySet<string> = new Set<Axis>([
  'ancestor',
  'ancestor-or-self',
  'attribute',
  'child',
  'descendant',
  'descendant-or-self',
  'following',
  'following-sibling',
  'parent',
  'preceding',
  'preceding-sibling',
  'self',
]);
const nodeTypes: ReadonlySet<string> = new Set([
  'node',
  'text',
  'comment',
  'processing-instruction',
]);
/** Operators from the loosest to the tightest. */
const levels: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['=', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', 'div', 'mod'],
];

const ncName = String.raw`[\p{L}_][\p{L}\p{N}\p{M}._\-·]*`;
const token = new RegExp(
  String.raw`\s*(?:(\d+(?:\.\d*)?|\.\d+)|"([^"]*)"|'([^']*)'|(::|\/\/|\.\.|!=|<=|>=|[()[\].@,\/|+\-=<>*$])|((?:${ncName}:)?(?:${ncName}|(?<=:)\*)))`,
  'uy',
);

interface Token {
  readonly kind: 'number' | 'string' | 'sign' | 'name' | 'operator' | 'end';
  readonly text: string;
}

/** @throws Error for what is no XPath. */
export function parseXPath(text: string): Expression {
  const parser = new Parser(tokensOf(text));
  return parser.whole();
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  token.lastIndex = 0;
  while (token.lastIndex < end) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null)
      throw new Error(`${JSON.stringify(text.slice(at, at + 20))} is not understood`);
    const [, number, double, single, sign, name] = found;
    const last = tokens.at(-1);
    // After what can end an expression a name or star is an operator (§3.7).
    const isOperand =
      last !== undefined &&
      (last.kind !== 'sign' ? last.kind !== 'operator' : /^(?:[)\].]|\.\.)$/.test(last.text));
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (sign !== undefined)
      tokens.push({ kind: sign === '*' && !isOperand ? 'name' : isSign(sign), text: sign });
    else if (name === undefined) tokens.push({ kind: 'string', text: double ?? single ?? '' });
    else if (isOperand && /^(?:and|or|div|mod)$/.test(name))
      tokens.push({ kind: 'operator', text: name });
    else tokens.push({ kind: 'name', text: name });
  }
  return tokens;
}

function isSign(text: string): 'sign' | 'operator' {
  return /^[()[\].@,$]$|^\.\.$|^::$/.test(text) ? 'sign' : 'operator';
}

const end: Token = { kind: 'end', text: 'its end' };

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    if (this.#tokens.length === 0) throw new Error('it is empty');
    const expression = this.#binary(0);
    if (this.#peek() !== end)
      throw new Error(`${JSON.stringify(this.#peek().text)} was not expected`);
    return expression;
  }

  #peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? end;
  }

  #is(text: string, ahead = 0): boolean {
    const { kind, text: found } = this.#peek(ahead);
    return (kind === 'sign' || kind === 'operator') && found === text;
  }

  #take(text: string): boolean {
    const isNext = this.#is(text);
    if (isNext) this.#at++;
    return isNext;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new Error(`${text} is missing before ${this.#peek().text}`);
  }

  #next(): Token {
    const next = this.#peek();
    this.#at++;
    return next;
  }

  #binary(level: number): Expression {
    const operators = levels[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    while (this.#peek().kind === 'operator' && operators.includes(this.#peek().text)) {
      const operator = this.#next().text;
      left = { kind: 'operator', operator, left, right: this.#binary(level + 1) };
    }
    return left;
  }

  #unary(): Expression {
    if (this.#take('-')) return { kind: 'negate', of: this.#unary() };
    let left = this.#path();
    while (this.#take('|')) left = { kind: 'operator', operator: '|', left, right: this.#path() };
    return left;
  }

  #path(): Expression {
    if (this.#is('/') || this.#is('//')) return this.#location('root');
    if (!this.#startsPrimary()) return this.#location('here');
    const primary = this.#primary();
    const predicates = this.#predicates();
    if (this.#is('/') || this.#is('//') || predicates.length > 0)
      return { kind: 'path', from: primary, predicates, steps: this.#steps(false) };
    return primary;
  }

  #location(from: 'root' | 'here'): Expression {
    return { kind: 'path', from, predicates: [], steps: this.#steps(from === 'here') };
  }

  #startsPrimary(): boolean {
    const { kind, text } = this.#peek();
    if (kind === 'number' || kind === 'string' || this.#is('$') || this.#is('(')) return true;
    return kind === 'name' && this.#is('(', 1) && !nodeTypes.has(text);
  }

  #primary(): Expression {
    const { kind, text } = this.#next();
    if (kind === 'number') return { kind, value: Number(text) };
    if (kind === 'string') return { kind, value: text };
    if (text === '$') return { kind: 'variable', name: this.#next().text };
    if (kind === 'name') return { kind: 'call', name: text, args: this.#args() };
    const inner = this.#binary(0);
    this.#expect(')');
    return inner;
  }

  #args(): Expression[] {
    const args: Expression[] = [];
    this.#expect('(');
    if (this.#take(')')) return args;
    do args.push(this.#binary(0));
    while (this.#take(','));
    this.#expect(')');
    return args;
  }

  /** Steps with the slashes between them; `isFirst` where one may come without a slash. */
  #steps(isFirst: boolean): Step[] {
    const steps: Step[] = [];
    let mayStart = isFirst;
    for (;;) {
      if (this.#take('//')) {
        steps.push({ axis: 'descendant-or-self', test: { kind: 'node' }, predicates: [] });
      } else if (this.#take('/')) {
        // `/` alone is the page.
        if (!isFirst && steps.length === 0 && !this.#startsStep()) return steps;
      } else if (!mayStart) return steps;
      mayStart = false;
      steps.push(this.#step());
    }
  }

  #startsStep(): boolean {
    return this.#peek().kind === 'name' || this.#is('@') || this.#is('.') || this.#is('..');
  }

  #step(): Step {
    if (this.#take('.')) return { axis: 'self', test: { kind: 'node' }, predicates: [] };
    if (this.#take('..')) return { axis: 'parent', test: { kind: 'node' }, predicates: [] };
    let axis: Axis = 'child';
    if (this.#take('@')) axis = 'attribute';
    else if (this.#is('::', 1)) {
      const name = this.#next().text;
      if (!axes.has(name)) throw new Error(`${name}:: is not an axis that is known here`);
      axis = name as Axis;
      this.#at++;
    }
    const test = this.#nodeTest();
    return { axis, test, predicates: this.#predicates() };
  }

  #nodeTest(): NodeTest {
    const { kind, text } = this.#next();
    if (kind !== 'name') throw new Error(`a name was expected, not ${text}`);
    if (nodeTypes.has(text) && this.#take('(')) {
      const target = this.#peek().kind === 'string' ? this.#next().text : undefined;
      this.#expect(')');
      if (text === 'processing-instruction') return { kind: text, target };
      return { kind: text as 'node' | 'text' | 'comment' };
    }
    const colon = text.indexOf(':');
    return { kind: 'name', prefix: text.slice(0, Math.max(colon, 0)), name: text.slice(colon + 1) };
  }

  #predicates(): Expression[] {
    const predicates: Expression[] = [];
    while (this.#take('[')) {
      predicates.push(this.#binary(0));
      this.#expect(']');
    }
    return predicates;
  }
}
