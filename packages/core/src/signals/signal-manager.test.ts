import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { DontCloseSpider } from '../errors.ts';
import type { Spider } from '../spider/spider.ts';
import { SignalManager } from './signal-manager.ts';

const spider = {} as Spider;

test('listeners are called in order and their results returned', () => {
  const signals = new SignalManager();
  signals.connect('spider_idle', () => 1);
  const disconnect = signals.connect('spider_idle', () => 2);
  expect(signals.send('spider_idle', { spider })).toEqual([1, 2]);
  disconnect();
  expect(signals.send('spider_idle', { spider })).toEqual([1]);
});

test('what a listener throws is reported once and returned in its place; the others are still called', () => {
  const signals = new SignalManager();
  const reported: string[] = [];
  signals.onError = (error, name) => void reported.push(`${name}: ${error.message}`);
  signals.connect('spider_idle', () => {
    throw new Error('broken');
  });
  signals.connect('spider_idle', () => 'fine');
  const [first, second] = signals.send('spider_idle', { spider });
  expect(first).toBeInstanceOf(Error);
  expect(second).toBe('fine');
  expect(reported).toEqual(['spider_idle: broken']);
});

test('what is thrown to steer is returned and not reported', () => {
  const signals = new SignalManager();
  signals.onError = () => expect.unreachable();
  signals.connect('spider_idle', () => {
    throw new DontCloseSpider();
  });
  expect(signals.send('spider_idle', { spider })[0]).toBeInstanceOf(DontCloseSpider);
});

test('an awaited signal waits for each phase before the next', async () => {
  const signals = new SignalManager();
  const order: string[] = [];
  signals.connect('spider_closed', () => void order.push('after'), { phase: 'after' });
  signals.connect('spider_closed', () => void order.push('normal'));
  signals.connect(
    'spider_closed',
    async () => {
      await sleep(5);
      order.push('before');
    },
    { phase: 'before' },
  );
  await signals.sendAwaited('spider_closed', { spider, reason: 'finished' });
  expect(order).toEqual(['before', 'normal', 'after']);
});

test('there is no promise where nobody returns one', () => {
  const signals = new SignalManager();
  expect(signals.sendAwaited('spider_opened', { spider })).toEqual([]);
  signals.connect('spider_opened', () => 7);
  expect(signals.sendAwaited('spider_opened', { spider })).toEqual([7]);
});

test('a listener that rejects is reported, not left unhandled', async () => {
  const signals = new SignalManager();
  const reported: string[] = [];
  signals.onError = (error) => void reported.push(error.message);
  signals.connect('item_scraped', () => Promise.reject(new Error('late')));
  const results = await signals.sendAwaited('item_scraped', { item: {}, response: null, spider });
  expect(results[0]).toBeInstanceOf(Error);
  expect(reported).toEqual(['late']);
});

test('waitFor gives the next event, or ends when it is aborted', async () => {
  const signals = new SignalManager();
  const next = signals.waitFor('spider_closed');
  signals.send('spider_closed', { spider, reason: 'x' });
  expect((await next).reason).toBe('x');
  await expect(signals.waitFor('spider_closed', AbortSignal.timeout(1))).rejects.toThrow('timeout');
});

test('waitFor does not wait where it is already aborted', async () => {
  const signals = new SignalManager();
  const aborted = AbortSignal.abort(new Error('too late'));
  await expect(signals.waitFor('spider_closed', aborted)).rejects.toThrow('too late');
  expect(signals.has('spider_closed')).toBe(false);
});
