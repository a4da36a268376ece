import type { AnyNode, Element } from 'domhandler';
/** What a group of a query takes from the elements it matches. */
type Taken =
  | {
      readonly kind: 'node';
    }
  | {
      readonly kind: 'text';
    }
  | {
      readonly kind: 'attr';
      readonly name: string;
    };
interface Group {
  readonly select: (nodes: AnyNode[]) => Element[];
  readonly taken: Taken;
}
/** A CSS selector, compiled. A result is an element, a text node, or the value of an attribute. */
export type Query = readonly Group[];
export type Found = AnyNode | string;
/** @throws UsageError for a selector that is none. */
export declare function compileQuery(text: string): Query;
/** What a query finds in `node` and below it. */
export declare function runQuery(query: Query, node: AnyNode, found: Found[]): void;
export {};
//# sourceMappingURL=query.d.ts.map
