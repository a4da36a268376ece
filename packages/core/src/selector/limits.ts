import { defaultSettings } from '../settings/default-settings.ts';

/** The settings that bound what one page may cost. */
export type LimitName = 'HTML_MAX_DEPTH' | 'HTML_MAX_NODES' | 'PARSE_TIMEOUT';

/** What a page may cost. 0 in a setting is Infinity here. */
export interface TreeLimits {
  /** Elements inside one another. Deeper ones stand side by side, as in browsers. */
  readonly depth: number;
  /** Elements, attributes, texts and comments. The rest of the page is left out. */
  readonly nodes: number;
  /** Milliseconds for the tree, and for each query on it. */
  readonly timeMs: number;
  /** Told when a page meets one of them. */
  readonly onLimit?: (name: LimitName) => void;
}

/** For pages that no crawl has fetched. */
export const defaultLimits: TreeLimits = {
  depth: defaultSettings.HTML_MAX_DEPTH,
  nodes: defaultSettings.HTML_MAX_NODES,
  timeMs: defaultSettings.PARSE_TIMEOUT * 1000,
};
