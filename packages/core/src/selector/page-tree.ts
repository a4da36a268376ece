import { Document, type Element } from 'domhandler';

import type { TreeLimits } from './limits.ts';

/** The elements of a page in its order, so that a query need not walk the tree. */
export interface ElementIndex {
  readonly all: readonly Element[];
  readonly byName: ReadonlyMap<string, readonly Element[]>;
}

/**
 * The root of a tree that we have made. What belongs to it are its fields: in a WeakMap they would cost more than the
 * tree itself, since they and so every tree would outlive the quick kind of garbage collection.
 */
export class PageTree extends Document {
  /** What queries on it may cost. */
  readonly limits: TreeLimits;
  /** Undefined where there is none, or the tree may have been changed since. */
  index: ElementIndex | undefined;

  constructor(limits: TreeLimits) {
    super([]);
    this.limits = limits;
  }
}

/** The elements of a tree, unless it may have been changed since it was made. */
export function elementIndex(tree: Document): ElementIndex | undefined {
  return tree instanceof PageTree ? tree.index : undefined;
}

/** The tree is handed out and may be changed from now on. */
export function forgetIndex(tree: Document): void {
  if (tree instanceof PageTree) tree.index = undefined;
}
