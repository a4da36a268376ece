import { expect, test } from 'vitest';

import {
  removeComments,
  removeTags,
  removeTagsWithContent,
  replaceEntities,
  replaceEscapeChars,
  replaceTags,
  unquoteMarkup,
} from './html-text.ts';

test.each([
  ['&pound;1 &#163; &#xA3 &eacute!', '£1 £ £ é!'],
  ['a&aff=b&cm_mmc=c & d', 'a&aff=b&cm_mmc=c & d'],
  ['&LT;&lt&#153;&#x99y', '<<™™y'],
  ['x&#157;&nope;&#xD800;&#99999999;y&nope', 'xy&nope'],
])('the entities of %s give %s', (text, expected) => {
  expect(replaceEntities(text)).toBe(expected);
});

test('entities may be kept, and those that mean nothing too', () => {
  expect(replaceEntities('&lt;&pound;&LT;', { keep: ['lt'] })).toBe('&lt;£&LT;');
  expect(replaceEntities('&nope;&#157;', { removeIllegal: false })).toBe('&nope;&#157;');
});

test('tags go, by name or all but some, and what is in them stays', () => {
  const text = '<P class="a>b">x<br/>y</p><pre>z</pre> 1 < 2';
  expect(removeTags('<P class=a>x<br/>y</p><pre>z</pre> 1 < 2')).toBe('xyz 1 < 2');
  expect(removeTags('<P>x<br/>y</p><pre>z</pre>', { whichOnes: ['p'] })).toBe(
    'x<br/>y<pre>z</pre>',
  );
  expect(removeTags('<p>x<br/>y</p>', { keep: ['br'] })).toBe('x<br/>y');
  expect(replaceTags(text, '-')).toBe('-b">x-y--z- 1 < 2');
});

test('elements go with their content, comments to their end', () => {
  const text = 'a<script src=x>b</SCRIPT foo>c<scripty>d</scripty><script/>e<script>f';
  expect(removeTagsWithContent(text, ['script'])).toBe('ac<scripty>d</scripty>e<script>f');
  expect(removeComments('a<!-- <b> -->c<!-- d')).toBe('ac');
});

test('line ends and tabs go, CDATA stays as it is', () => {
  expect(replaceEscapeChars('a\r\n\tb')).toBe('ab');
  expect(replaceEscapeChars('a\nb\t', { whichOnes: ['\t'], replaceBy: '$&' })).toBe('a\nb$&');
  expect(unquoteMarkup('&amp;<![CDATA[&amp;<b>]]>&lt;<![CDATA[&amp;')).toBe('&&amp;<b><<![CDATA[&');
});

test('text that never closes what it opens takes no longer than its length', () => {
  const open = '<script <![CDATA[<!--<a &'.repeat(40_000);
  for (const change of [
    replaceTags,
    removeTags,
    removeComments,
    replaceEntities,
    unquoteMarkup,
    (text: string) => removeTagsWithContent(text, ['script', 'a']),
  ])
    expect(change(open).length).toBeLessThanOrEqual(open.length);
});
