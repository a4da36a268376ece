import { type AnyNode, type Document, isTag, isText } from 'domhandler';
import { expect, test } from 'vitest';

import { defaultLimits, type LimitName, type TreeLimits } from './limits.ts';
import { parseTree } from './tree.ts';

/** A tree on one line, and the limits that it met. */
function read(
  html: string,
  { isXml = false, ...limits }: Partial<TreeLimits> & { isXml?: boolean } = {},
): { tree: string; met: LimitName[] } {
  const met: LimitName[] = [];
  const onLimit = (name: LimitName): void => void met.push(name);
  const tree = parseTree(html, isXml, { ...defaultLimits, ...limits, onLimit });
  return { tree: brief(tree.children), met };
}

function brief(nodes: readonly AnyNode[]): string {
  return nodes
    .map((node) => {
      if (isText(node)) return node.data;
      if (!isTag(node)) return '';
      return node.children.length === 0
        ? `<${node.name}>`
        : `${node.name}(${brief(node.children)})`;
    })
    .join('');
}

function depthOf(tree: Document): number {
  let depth = -1;
  let node: AnyNode | undefined = tree;
  for (; node && 'children' in node; node = node.children[0]) depth++;
  return depth;
}

test('elements below HTML_MAX_DEPTH stand side by side, and their end tags close nothing else', () => {
  const html = '<main><i><b><u>1</u><s>2</s></b>3</i></main><p>4';
  expect(read(html, { depth: 2 })).toEqual({
    tree: 'main(i(<b><u>1<s>23))p(4)',
    met: ['HTML_MAX_DEPTH'],
  });
  expect(read(html, { depth: 4 })).toEqual({ tree: 'main(i(b(u(1)s(2))3))p(4)', met: [] });
});

test('an end tag of an element in the tree closes all that is open beyond the limit', () => {
  expect(read('<a><b><i><i><i>1</a>2</i>3', { depth: 2 }).tree).toBe('a(b(<i><i><i>1))23');
});

test('tags beyond the limit end one another as they do in the tree', () => {
  expect(read('<ul><li><ul><li>1<li>2</ul>3</ul>4', { depth: 2 }).tree).toBe(
    'ul(li(<ul><li>1<li>23))4',
  );
});

test.each([
  ['HTML', false],
  ['XML', true],
])('%s of a hundred thousand open tags is a tree that recursion can walk', (_, isXml) => {
  const tree = parseTree('<div>'.repeat(100_000) + 'x', isXml);
  // The last of those that hold something holds the rest.
  expect(depthOf(tree)).toBe(defaultLimits.depth + 1);
});

test('end tags in XML close what they have opened, however deep', () => {
  expect(read('<a><b><c><d>1</d></c>2</b>3</a>', { isXml: true, depth: 2 })).toEqual({
    tree: 'a(b(<c><d>12)3)',
    met: ['HTML_MAX_DEPTH'],
  });
});

test.each([
  ['elements', '<b></b>'.repeat(2000), false],
  ['texts', '<br>x'.repeat(2000), false],
  ['comments', '<!-- x -->'.repeat(2000), false],
  ['attributes', `<p ${Array.from({ length: 2000 }, (_, i) => ` a${i}`).join('')}>`, false],
  ['end tags of nothing', '</x>'.repeat(2000), false],
  ['elements of XML', '<b></b>'.repeat(2000), true],
])('HTML_MAX_NODES counts %s', (_, html, isXml) => {
  expect(read(html, { isXml, nodes: 1000 }).met).toEqual(['HTML_MAX_NODES']);
  expect(read(html, { isXml, nodes: 10_000 }).met).toEqual([]);
});

test('a page with more than HTML_MAX_NODES is read up to there', () => {
  expect(read('<p>1<p>2<p>3<p>4', { nodes: 4 }).tree).toMatch(/^p\(1\)p\(2\)(?!.*[34])/);
  expect(read('<r><p/><p/><p/></r>', { nodes: 3, isXml: true }).tree).toBe('r(<p><p>)');
});

test.each([
  ['HTML', false],
  ['XML', true],
])('%s that takes longer than PARSE_TIMEOUT is read up to there', (_, isXml) => {
  const html = '<p>some words</p>'.repeat(50_000);
  const { tree, met } = read(html, { isXml, timeMs: 0 });
  expect(met).toEqual(['PARSE_TIMEOUT']);
  expect(tree.length).toBeGreaterThan(0);
  expect(tree.length).toBeLessThan(html.length / 2);
});
