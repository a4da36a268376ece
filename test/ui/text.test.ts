import { expect, test } from 'vitest';

import { ago, duration, line, machineName, shown } from '../../packages/redis/src/ui/page/text.ts';

test('marks that hide or turn text are shown as codes, line ends and tabs as they are', () => {
  expect(shown('a\u202Eb\u2066c\u200Ed\u0000e\u001B[1mf\u009Bg\uFEFFh\u00ADi\u2028j')).toBe(
    'a\\u{202e}b\\u{2066}c\\u{200e}d\\u{0}e\\u{1b}[1mf\\u{9b}g\\u{feff}h\\u{ad}i\\u{2028}j',
  );
  expect(shown('one\n\ttwo')).toBe('one\n\ttwo');
  expect(line('one\n\ttwo\r')).toBe('one two\\u{d}');
  // Letters of any script, and emoji that are joined of several, are text.
  expect(shown('שלום مرحبا 👩‍💻')).toBe('שלום مرحبا 👩‍💻');
});

test.each([
  [0, '0 s', 'just now'],
  [4.26, '4.3 s', '4 s ago'],
  [75, '75 s', '75 s ago'],
  [125, '2 min 05 s', '2 min ago'],
  [3540, '59 min', '59 min ago'],
  [3660, '1 h 1 min', '61 min ago'],
  [90_000, '25 h', '25 h ago'],
  [200_000, '2 d 7 h', '2 d ago'],
])('%f seconds read well', (seconds, length, since) => {
  expect([duration(seconds), ago(seconds * 1000)]).toEqual([length, since]);
});

test('agents on one machine are told apart by their process', () => {
  expect(machineName('box/12/ab')).toBe('box');
  expect(machineName('box/12/ab', ['box/12/ab', 'box/13/cd', 'other/1/ef'])).toBe('box/12');
});
