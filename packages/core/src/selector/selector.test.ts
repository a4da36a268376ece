import { expect, test } from 'vitest';

import { createResponse } from '../http/response-types.ts';
import type { Response } from '../http/response.ts';

const page = (body: string): Response =>
  createResponse('http://h.test/', {
    headers: { 'content-type': 'text/html' },
    body: Buffer.from(body),
  });

const quotes = page(`
  <div class="quote"><span class="text">One <b>two</b> three</span><small>Ann</small><a class="tag" href="/t/a">a</a><a class="tag" href="/t/b">b</a></div>
  <div class="quote"><span class="text">Four</span><small>Bob</small></div>`);

test('elements, texts and attributes, the first or all', () => {
  expect(quotes.css('small::text').getAll()).toEqual(['Ann', 'Bob']);
  expect(quotes.css('small::text').get()).toBe('Ann');
  expect(quotes.css('a.tag::attr(href)').getAll()).toEqual(['/t/a', '/t/b']);
  expect(quotes.css('small').get()).toBe('<small>Ann</small>');
  expect(quotes.css('h1::text').get()).toBeUndefined();
  expect(quotes.css('h1::text').get('none')).toBe('none');
  expect(quotes.css('a.tag').attrib).toEqual({ class: 'tag', href: '/t/a' });
});

test('::text is the text directly in an element, with a space before it all text below, in the order of the page', () => {
  expect(quotes.css('span.text::text').getAll()).toEqual(['One ', ' three', 'Four']);
  expect(quotes.css('span.text ::text').getAll()).toEqual(['One ', 'two', ' three', 'Four']);
  expect(quotes.css('span.text > ::text').getAll()).toEqual(['two']);
  expect(quotes.css('span.text::text, span.text *::text').getAll()).toEqual([
    'One ',
    'two',
    ' three',
    'Four',
  ]);
  expect(quotes.css('span.text').at(0)!.text()).toBe('One two three');
});

test('a query starts from its element and sees nothing above it', () => {
  const [first, second] = quotes.css('div.quote');
  expect(first!.css('a').length).toBe(2);
  expect(second!.css('a').length).toBe(0);
  expect(second!.css('body small').length).toBe(0);
  expect(first!.css('div.quote').length).toBe(1);
  expect(quotes.css('div.quote').css('small::text').getAll()).toEqual(['Ann', 'Bob']);
  expect(quotes.css('div.quote').map((quote) => quote.css('small::text').get())).toEqual([
    'Ann',
    'Bob',
  ]);
});

test('several selectors in one, each with its own kind', () => {
  expect(quotes.css('small::text, a.tag::attr(href)').getAll()).toEqual([
    'Ann',
    '/t/a',
    '/t/b',
    'Bob',
  ]);
  expect(page('<p>a<b>b</b>c</p>').css('b, p::text, b::text').getAll()).toEqual([
    'a',
    '<b>b</b>',
    'b',
    'c',
  ]);
});

test('what was asked inside of an element says nothing about the whole page', () => {
  const response = page('<div class=a><div class=b><i class=c>1</i></div></div>');
  const query = '.a:has(i) .b .c';
  expect(response.css('.b').css(query).length).toBe(0);
  expect(response.css(query).length).toBe(1);
});

test(':scope and combinators at the start are about the element itself', () => {
  const [div] = page('<div><a>1</a><p><a>2</a></p></div>').css('div');
  expect(div!.css(':scope > a::text').getAll()).toEqual(['1']);
  expect(div!.css('> a::text').getAll()).toEqual(['1']);
});

test('an element is given as HTML that reads the same', () => {
  const html = '<p title="a &quot;b&quot; &amp;">1 &lt; 2 &amp; é<br></p>';
  expect(page(html).css('p').get()).toBe(html);
  expect(
    page(html)
      .css('p')
      .re(/title="[^>]*">/),
  ).toEqual(['title="a "b" &amp;">']);
});

test('attributes that no element has are not found', () => {
  expect(page('<a>').css('a::attr(constructor)').getAll()).toEqual([]);
});

test('in XML the case of names counts, and CDATA is text', () => {
  const feed = createResponse('http://h.test/', {
    headers: { 'content-type': 'application/rss+xml' },
    body: Buffer.from(
      '<rss><item><pubDate aB="1">é</pubDate><loc><![CDATA[a&b]]></loc><e/><link>l</link></item></rss>',
    ),
  });
  expect(feed.css('pubDate::text').get()).toBe('é');
  expect(feed.css('pubdate').length).toBe(0);
  expect(feed.css('item').css('pubDate::attr(aB)').get()).toBe('1');
  expect(feed.css('loc::text').get()).toBe('a&b');
  expect(feed.css('item ::text').getAll()).toEqual(['é', 'a&b', 'l']);
  expect(feed.css('item').get()).toBe(
    '<item><pubDate aB="1">é</pubDate><loc><![CDATA[a&b]]></loc><e/><link>l</link></item>',
  );
});

test('a page may nest deeper than the stack', () => {
  const deep = page('<div>'.repeat(20_000) + '<a href=x>1</a>');
  expect(deep.css('a::attr(href)').get()).toBe('x');
  expect(deep.css('div').at(0)!.text()).toBe('1');
});

test('what a template holds is found from the page and from an element', () => {
  const { selector } = page('<div><template><p>a</p></template><p>b</p></div>');
  expect(selector.css('p::text').getAll()).toEqual(['a', 'b']);
  expect(selector.css('div').at(0)!.css('p::text').getAll()).toEqual(['a', 'b']);
});

test('regular expressions give named, all or whole matches', () => {
  const price = page('<p>Price: 12.50 EUR</p><p>Price: 7 USD</p>').css('p::text');
  expect(price.re(/(?<extract>[\d.]+) [A-Z]+/)).toEqual(['12.50', '7']);
  expect(price.re(/([\d.]+) ([A-Z]+)/)).toEqual(['12.50', 'EUR', '7', 'USD']);
  expect(price.re('[A-Z]{3}')).toEqual(['EUR', 'USD']);
  expect(price.reFirst(/\d+/)).toBe('12');
  expect(price.reFirst(/x/)).toBeUndefined();
  expect(price.reFirst(/x/, 'none')).toBe('none');
  const remembers = /\d+/g;
  remembers.lastIndex = 9;
  expect(price.re(remembers)).toEqual(['12', '50', '7']);
});

test('a selector that is none is told by name', () => {
  expect(() => quotes.css('div[')).toThrow('"div["');
  expect(() => quotes.css('a:nope')).toThrow('"a:nope"');
  expect(() => quotes.css(' ')).toThrow('empty');
  expect(() => quotes.css('a::href')).toThrow('::text and ::attr(name)');
});

test('what is changed through cheerio or a node is seen by the queries after it', () => {
  const cheerio = page('<p class=a>1</p><p>2</p>');
  expect(cheerio.css('p.a').length).toBe(1);
  cheerio.$('p').addClass('a');
  cheerio.$('body, p').first().after('<p class=a>3</p>');
  expect(cheerio.css('p.a::text').getAll()).toEqual(['1', '3', '2']);
  const node = page('<p class=a>1</p><p>2</p>');
  expect(node.css('p').length).toBe(2);
  const first = node.css('p').at(0)!.node!;
  first.parent!.children.pop();
  expect(node.css('p').length).toBe(1);
});
