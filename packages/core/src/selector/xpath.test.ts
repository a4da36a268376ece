import { expect, test } from 'vitest';

import { createResponse } from '../http/response-types.ts';
import type { Response } from '../http/response.ts';

const page = (body: string, type = 'text/html'): Response =>
  createResponse('http://h.test/', { headers: { 'content-type': type }, body: Buffer.from(body) });

const list = page(
  `<html><body><ul class="a b"><li>1</li><li class=b>2 <i>x</i></li><!-- c --><li><ul><li>3</li></ul></li></ul><p lang=en-GB id=p>T&eacute; &amp;</p></body></html>`,
);
const all = (query: string, from = list): string[] => from.xpath(query).getAll();

test('elements, texts and attributes come in the order of the page, each once', () => {
  expect(all('//li/text()')).toEqual(['1', '2 ', '3']);
  expect(all('//li/@class | //ul/@class')).toEqual(['a b', 'b']);
  expect(all('//li//text()/..//text()')).toEqual(['1', '2 ', 'x', '3']);
  expect(all('//i')).toEqual(['<i>x</i>']);
  expect(all('//comment()')).toEqual(['<!-- c -->']);
});

test('a place counts among the children of one parent, in parentheses among all', () => {
  expect(all('//li[1]/text()')).toEqual(['1', '3']);
  expect(all('(//li)[1]/text()')).toEqual(['1']);
  expect(all('//i/ancestor::*[1]/@class')).toEqual(['b']);
  expect(all('(//i/ancestor::*)[1]').map((html) => html.slice(0, 6))).toEqual(['<html>']);
  expect(all('//ul/li[last()]//text()')).toEqual(['3']);
  expect(all('//li[position() > 1][1]/text()')).toEqual(['2 ']);
});

test.each([
  ['preceding::li/text()', ['1', '2 ']],
  ['preceding-sibling::ul', []],
  ['ancestor-or-self::li/parent::ul/@class', ['a b']],
  ['following::p/@id', ['p']],
  ['following::*/following::node()', []],
  ['self::li/text()', ['3']],
  ['descendant-or-self::node()/text()', ['3']],
])('%s, seen from an element', (query, expected) => {
  const [inner] = list.xpath('//ul/ul/li | //li//li');
  expect(inner!.xpath(query).getAll()).toEqual(expected);
});

test.each([
  ['count(//li)', '4'],
  ['count(//li) div 8', '0.5'],
  ['7 mod -3', '1'],
  ['-(2 + 3) * 2', '-10'],
  ['string(//li[2])', '2 x'],
  ['normalize-space("  a \n b ")', 'a b'],
  ['translate("bar", "abc", "AB")', 'BAr'],
  ['substring("12345", 1.5, 2.6)', '234'],
  ['substring("12345", 0, 3)', '12'],
  ['substring-after("a=b", "=")', 'b'],
  ['concat("a", //li, true())', 'a1true'],
  ['//li = 3', '1'],
  ['//li != 3 and not(//b)', '1'],
  ['//li < 1', '0'],
  ['number("1e3")', 'NaN'],
  ['round(-2.5) + ceiling(0.2) + floor(-0.2)', '-2'],
  ['string-length("\u{1F600}a")', '2'],
  ['sum(//ul/li[1])', '4'],
  ['name(//@class)', 'class'],
  ['boolean(//p[lang("en")])', '1'],
  ['string(id("p"))', 'Té &'],
  ['count(//@*[. = "b"])', '1'],
  ['re:test("AbC", "^abc$", "i")', '1'],
  ['re:replace("a1b2", "\\d", "g", "-")', 'a-b-'],
  ['count(set:difference(//li, //li[i]))', '3'],
  ['count(//*[has-class("b", "a")])', '1'],
])('%s is %s', (query, expected) => {
  expect(list.xpath(query).get()).toBe(expected);
});

test('// looks in the whole page, .// below the element, and CSS goes on from there', () => {
  const [second] = list.xpath('//li[2]');
  expect(second!.xpath('//i').length).toBe(1);
  expect(list.css('p').xpath('.//i').length).toBe(0);
  expect(list.css('ul').xpath('.//li').css('::text').getAll()).toEqual(['1', '2 ', 'x', '3']);
  expect(list.xpath('body/p/@id').get()).toBe('p');
  expect(page('<p>a</p><p>b</p>').xpath('/p[2]/text()').get()).toBe('b');
});

test('a variable needs no quotes of its own', () => {
  const quotes = `'"]`;
  const response = page(`<a title="&#39;&quot;]">x</a>`);
  const options = { variables: { quotes } };
  expect(response.xpath('//a[@title = $quotes]/text()', options).get()).toBe('x');
  expect(() => response.xpath('//a[@title = $nope]')).toThrow('$nope');
});

test('in XML a name without a prefix has none, and a registered prefix is its namespace', () => {
  const feed = page(
    '<?xml version="1.0"?><rss xmlns="urn:r" xmlns:m="urn:m"><item><title>a</title><m:title>b</m:title><x xmlns:n="urn:m" n:k="1"><n:title><![CDATA[c]]></n:title></x></item></rss>',
    'text/xml',
  );
  expect(all('//title/text()', feed)).toEqual(['a']);
  expect(all('//m:title/text()', feed)).toEqual(['b']);
  const namespaces = { media: 'urn:m' };
  expect(feed.xpath('//media:title/text()', { namespaces }).getAll()).toEqual(['b', 'c']);
  expect(feed.xpath('//@media:k', { namespaces }).get()).toBe('1');
  expect(all('//x/@*', feed)).toEqual(['1']);
  expect(feed.xpath('namespace-uri(//n:title)').get()).toBe('urn:m');
  expect(all('/rss/preceding::node()', feed)).toEqual([]);
});

test('what is no XPath is told with its place', () => {
  expect(() => list.xpath('//a[')).toThrow('"//a["');
  expect(() => list.xpath('//a]')).toThrow('"]"');
  expect(() => list.xpath('a:b:c::d')).toThrow('not');
  expect(() => list.xpath('frob(1)')).toThrow('frob()');
  expect(() => list.xpath('contains("a")')).toThrow('1 arguments');
  expect(() => list.xpath('count(1)')).toThrow('path');
  expect(() => list.xpath(' ')).toThrow('empty');
});

test('a page of many or deep elements costs what its length says', () => {
  const wide = page(`<ul>${'<li>1'.repeat(10_000)}</ul>`);
  expect(wide.xpath('//li').length).toBe(10_000);
  expect(wide.xpath('//li/following-sibling::li').length).toBe(9_999);
  expect(wide.xpath('//li[following-sibling::li]').length).toBe(9_999);
  const deep = page('<div>'.repeat(20_000) + '<a href=x>1</a>');
  expect(deep.xpath('//div//div//div//a/@href').get()).toBe('x');
  expect(deep.xpath('count(//div/ancestor::div) > 400').get()).toBe('1');
});
