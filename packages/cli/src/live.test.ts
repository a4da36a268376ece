import { stripVTControlCharacters, styleText } from 'node:util';

import { expect, test } from 'vitest';

import { blockLines, type LiveView } from './live.ts';

const view: LiveView = {
  spider: 'books',
  seconds: 3725,
  pages: 1234,
  items: 1000,
  errors: 2,
  pagesPerMinute: 321.6,
  inFlight: 8,
  waitingForDelay: 3,
  queued: 420,
  slowest: [
    { key: 'slow.example.com', delay: 12 },
    { key: 'b.example.com', delay: 0.25 },
  ],
};

test('the block says how far the crawl is and what holds it back', () => {
  expect(blockLines(view, 100)).toEqual([
    '',
    'books   elapsed 1:02:05',
    'pages 1,234   items 1,000   errors 2   pages/min 322',
    'in flight 8   waiting for delay 3   queued 420',
    'slowest slow.example.com 12.00 s   b.example.com 0.25 s',
  ]);
});

test('without a delay there is no line of slow sites', () => {
  expect(blockLines({ ...view, slowest: [] }, 100)).toHaveLength(4);
});

test.for([1, 5, 20, 40])('no line is wider than %i columns, coloured or not', (width) => {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    styleText(style, text, { validateStream: false });
  for (const line of [...blockLines(view, width), ...blockLines(view, width, paint)]) {
    expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(width);
  }
});

test('the name of a host cannot send commands to the terminal', () => {
  const [, , , , slowest] = blockLines(
    { ...view, slowest: [{ key: 'a\u001b[2J', delay: 1 }] },
    100,
  );
  expect(slowest).toBe('slowest a\\u001b[2J 1.00 s');
});
