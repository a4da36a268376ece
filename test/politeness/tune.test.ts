import { test, vi } from 'vitest';
import { simulate, sum } from './simulate.ts';
test('tune', async () => {
  vi.useFakeTimers();
  for (const rate of [1, 3, 10, 30, 100]) for (const ra of [undefined, 1]) for (const l of [undefined, 0.05]) {
    const { good, refused } = await simulate(rate, 240, ra, l);
    const g = sum(good, 60), r = sum(refused, 60), g0 = sum(good, 0, 60), r0 = sum(refused, 0, 60);
    console.log(rate, ra, l, 'min1', (g0 / 60 / rate).toFixed(2), (r0 / (g0 + r0) * 100).toFixed(1) + '%', 'after', (g / 180 / rate).toFixed(3), (r / (g + r) * 100).toFixed(2) + '%');
  }
  vi.useRealTimers();
}, 60000);
