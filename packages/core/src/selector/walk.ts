import { type AnyNode, hasChildren, isText } from 'domhandler';

/**
 * The node that comes after `node` in the order of the page, inside of `root`; null at the end of it. Pages nest
 * deeper than the stack, so whoever reads a whole tree does it with this.
 */
export function nextNode(node: AnyNode, root: AnyNode): AnyNode | null {
  if (hasChildren(node) && node.children.length > 0) return node.children[0] as AnyNode;
  for (let at: AnyNode | null = node; at !== null && at !== root; at = at.parent) {
    if (at.next) return at.next as AnyNode;
  }
  return null;
}

/** All text in a node and below it; no more than its first `most` characters. */
export function textBelow(root: AnyNode, most: number = Infinity): string {
  let text = '';
  for (let node: AnyNode | null = root; node !== null; node = nextNode(node, root)) {
    if (isText(node)) text += node.data;
    if (text.length > most) return text.slice(0, most);
  }
  return text;
}
