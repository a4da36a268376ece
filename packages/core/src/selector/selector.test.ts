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
  expect(quotes.css('span.text ::text').getAll()).toEqual(['two']);
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
    'Bob',
    '/t/a',
    '/t/b',
  ]);
});

test('regular expressions give named, all or whole matches', () => {
  const price = page('<p>Price: 12.50 EUR</p><p>Price: 7 USD</p>').css('p::text');
  expect(price.re(/(?<extract>[\d.]+) [A-Z]+/)).toEqual(['12.50', '7']);
  expect(price.re(/([\d.]+) ([A-Z]+)/)).toEqual(['12.50', 'EUR', '7', 'USD']);
  expect(price.re('[A-Z]{3}')).toEqual(['EUR', 'USD']);
  expect(price.reFirst(/\d+/)).toBe('12');
  expect(price.reFirst(/x/)).toBeUndefined();
  expect(price.reFirst(/x/, 'none')).toBe('none');
});

test('a selector that is none is told by name', () => {
  expect(() => quotes.css('div[')).toThrow('"div["');
  expect(() => quotes.css('a::href')).toThrow('::text and ::attr(name)');
});
