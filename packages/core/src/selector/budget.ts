import type { AnyNode } from 'domhandler';

import { ParseTimeoutError } from '../errors.ts';
import { defaultLimits } from './limits.ts';
import { PageTree } from './page-tree.ts';

/** Steps between two looks at the clock, which costs more than a step. A million of them take some ten milliseconds. */
const betweenLooks = 1_000_000;

/** Thrown by `spend` where the caller has a way that is dearer to begin with and never slow. */
export const expensive: unique symbol = Symbol('expensive');

let steps = 0;
let since: number | undefined;
let start: AnyNode;
let mayRestart = false;

/** Begins to count the steps of one query on `node`. With `restarts`, the first million ends in `expensive`. */
export function beginSteps(node: AnyNode, restarts = false): void {
  steps = 0;
  since = undefined;
  start = node;
  mayRestart = restarts;
}

/**
 * Counts steps of the query that began last.
 *
 * @throws ParseTimeoutError when it has taken `PARSE_TIMEOUT`.
 */
export function spend(count: number): void {
  steps += count;
  if (steps > betweenLooks) look();
}

function look(): void {
  // oxlint-disable-next-line typescript/only-throw-error -- caught by the query that began; never leaves it
  if (mayRestart) throw expensive;
  steps = 0;
  const now = performance.now();
  since ??= now;
  let top = start;
  while (top.parent !== null) top = top.parent;
  const { timeMs, onLimit } = top instanceof PageTree ? top.limits : defaultLimits;
  if (now - since <= timeMs) return;
  onLimit?.('PARSE_TIMEOUT');
  throw new ParseTimeoutError(
    `A query was given up after ${timeMs / 1000} s. The page is very large, or made to be slow: ask for less at once, or raise PARSE_TIMEOUT.`,
  );
}
