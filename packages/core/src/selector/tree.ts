import { defaultLimits, type TreeLimits } from './limits.ts';
import type { PageTree } from './page-tree.ts';
import { buildTree } from './tree-builder.ts';
import { buildXmlTree } from './xml-tree.ts';

/** A page as a tree of domhandler nodes. Never throws: every text is some page, and its end is where the limits are. */
export function parseTree(
  text: string,
  isXml = false,
  limits: TreeLimits = defaultLimits,
): PageTree {
  return isXml ? buildXmlTree(text, limits) : buildTree(text, limits);
}
