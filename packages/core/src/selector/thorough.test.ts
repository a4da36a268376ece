import { compile, type Options } from 'css-select';
import { parse } from 'css-what';
import { type AnyNode, type Element, isTag } from 'domhandler';
import * as domutils from 'domutils';
import { expect, test } from 'vitest';

import { HtmlResponse } from '../http/response-types.ts';
import { compileThorough } from './thorough.ts';
import { buildTree } from './tree-builder.ts';
import { nextNode } from './walk.ts';

const options: Options<AnyNode, Element> = {
  adapter: { ...domutils, isTag: isTag as (node: AnyNode) => node is Element },
  cacheResults: false,
};

test.each([
  'b i',
  'b i u',
  'b > i u + b',
  'i ~ u',
  'b i ~ u b',
  'b > i ~ u',
  'p b:not(i b) u',
  'b:has(i u) u',
  'b:nth-child(2n+1)',
  'i:nth-last-child(2)',
  'u:nth-of-type(odd) i',
  'p b:nth-last-of-type(-n+2)',
  '.x .y .x, i i i',
])('%s finds the same by remembering', (query) => {
  let state = 42;
  const random = (n: number): number => (state = (state * 48_271) % 2_147_483_647) % n;
  let html = '';
  for (let i = 0; i < 3000; i++) {
    const name = ['b', 'i', 'u', 'p'][random(4)];
    html += random(2) ? `<${name} class=${['x', 'y'][random(2)]}>` : `</${name}>`;
  }
  const tree = buildTree(html);
  const quick = compile<AnyNode, Element>(parse(query), options) as (element: Element) => boolean;
  const thorough = compileThorough(parse(query), options);
  const found = { quick: 0, same: 0 };
  for (let node: AnyNode | null = tree; node; node = nextNode(node, tree)) {
    if (!isTag(node)) continue;
    const expected = quick(node);
    found.quick += Number(expected);
    expect(thorough(node)).toBe(expected);
  }
  expect(found.quick).toBeGreaterThan(0);
});

test('a query that turns expensive is answered as a cheap one is', () => {
  const html = `<section>${'<div>'.repeat(300)}${'<p>x</p>'.repeat(3000)}`;
  const page = new HtmlResponse('http://a.test/', { body: Buffer.from(html) });
  expect(page.css('section div p').length).toBe(3000);
  expect(page.css('h1 div div p').length).toBe(0);
  expect(page.css('p ~ p').length).toBe(2999);
  expect(page.css('p:nth-child(3n)').length).toBe(1000);
  // From an element, nothing above it counts.
  expect(page.css('div').at(1)!.css('section div p').length).toBe(0);
  expect(page.css('div').at(1)!.css('div div div p').length).toBe(3000);
});
