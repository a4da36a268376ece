import { expect, test } from 'vitest';

import { CsvExporter } from './csv.ts';
import type { FeedExporter } from './exporter.ts';
import { JsonExporter } from './json.ts';
import { JsonLinesExporter } from './jsonlines.ts';
import { XmlExporter } from './xml.ts';

async function written(exporter: FeedExporter, items: readonly unknown[]): Promise<string> {
  let text = exporter.start();
  for (const item of items) text += exporter.item(item);
  text += exporter.finish();
  const rewrite = exporter.rewrite?.();
  if (!rewrite) return text;
  // Chunks that end anywhere.
  const bytes = Buffer.from(text);
  let out = '';
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  };
  for await (const chunk of rewrite(chunks())) out += Buffer.from(chunk).toString();
  return out;
}

const uneven = [
  { name: 'Ann', note: 'a,b' },
  { name: 'Bob', age: 30, note: 'say "hi"' },
  { age: 31, city: 'Rom', note: 'l1\nl2' },
];

test('csv has the union of columns, in the order they were first seen', async () => {
  expect(await written(new CsvExporter(), uneven)).toBe(
    'name,note,age,city\nAnn,"a,b",,\nBob,"say ""hi""",30,\n,"l1\nl2",31,Rom\n',
  );
});

test('csv with fixed fields keeps to them and knows what it left out', async () => {
  const exporter = new CsvExporter({ fields: ['age', 'name'] });
  expect(await written(exporter, uneven)).toBe('age,name\n,Ann\n30,Bob\n31,\n');
  expect([...exporter.leftOut]).toEqual(['note', 'city']);
  expect(await written(new CsvExporter({ fields: { name: 'Full, name' } }), [{ name: 'A' }])).toBe(
    '"Full, name"\nA\n',
  );
});

test('csv writes nested values as JSON, dates and URLs as text, and no blank lines', async () => {
  const item = {
    a: [1, 'x'],
    b: { c: 'd,e' },
    d: new Date(0),
    u: new URL('http://h/'),
    n: null,
    t: true,
    big: 3n,
  };
  expect(await written(new CsvExporter(), [item])).toBe(
    'a,b,d,u,n,t,big\n"[1,""x""]","{""c"":""d,e""}",1970-01-01T00:00:00.000Z,http://h/,,true,3\n',
  );
  expect(await written(new CsvExporter(), [{ a: null }])).toBe('a\n""\n');
  expect(() => new CsvExporter().item({})).toThrow('without fields');
});

test('an item that csv cannot write leaves no column behind', async () => {
  const exporter = new CsvExporter({ delimiter: ';' });
  exporter.item({ a: 1 });
  expect(() => exporter.item({ b: 1, a: () => 1 })).toThrow(TypeError);
  expect(exporter.item({ a: 'x;y' })).toBe('"x;y"\n');
});

test.each([
  ['=1+1', true],
  ['@SUM(1)', true],
  ['+1', true],
  ['-2+3', true],
  ['\t=1', true],
  ['\uff1d1', true],
  ['-5.5e3', false],
  ['a=b', false],
])('csv marks %j as no formula: %s', (value, isMarked) => {
  expect(new CsvExporter({ escapeFormulas: true }).item({ v: value })).toBe(
    `v\n${isMarked ? "'" : ''}${value}\n`,
  );
  expect(new CsvExporter().item({ v: value })).toBe(`v\n${value}\n`);
});

test('json is one array, whole even without items', async () => {
  expect(await written(new JsonExporter(), [{ a: 1 }, { a: 'ü' }])).toBe(
    '[\n{"a":1},\n{"a":"ü"}\n]\n',
  );
  expect(await written(new JsonExporter(), [])).toBe('[]\n');
  expect(await written(new JsonExporter({ indent: null }), [{ a: 1 }, { a: 2 }])).toBe(
    '[{"a":1},{"a":2}]\n',
  );
  expect(await written(new JsonExporter({ indent: 2 }), [{ a: 1 }])).toBe('[\n{\n  "a": 1\n}\n]\n');
});

test('json that cannot be made leaves the array whole', () => {
  const exporter = new JsonExporter();
  exporter.item({ a: 1 });
  expect(() => exporter.item({ a: 1n })).toThrow(TypeError);
  expect(() => exporter.item(undefined)).toThrow('has no JSON form');
  expect(exporter.item({ a: 3 })).toBe(',\n{"a":3}');
});

test('json lines has one document a line, with the fields asked for', async () => {
  const items = [{ a: 'x\ny', b: 1, __proto__: { c: 1 } }];
  expect(await written(new JsonLinesExporter(), items)).toBe('{"a":"x\\ny","b":1}\n');
  expect(await written(new JsonLinesExporter({ fields: { b: '__proto__', a: 'A' } }), items)).toBe(
    '{"__proto__":1,"A":"x\\ny"}\n',
  );
  expect(await written(new JsonLinesExporter({ encoding: 'latin1' }), [{ a: 'é€' }])).toBe(
    '{"a":"é\\u20ac"}\n',
  );
});

test('xml nests what is nested and escapes what it cannot hold', async () => {
  const items = [{ a: 'x < y & "z"', list: [1, { k: 2 }], 'a b': null, ctl: '\u0001\r' }];
  expect(await written(new XmlExporter(), items)).toBe(
    '<?xml version="1.0" encoding="utf-8"?>\n<items>\n' +
      '<item><a>x &lt; y &amp; &quot;z&quot;</a><list><value>1</value><value><k>2</k></value></list><field name="a b"></field><ctl>\ufffd&#13;</ctl></item>\n' +
      '</items>\n',
  );
  expect(
    await written(new XmlExporter({ indent: 1, rootElement: 'r', itemElement: 'i' }), [{ a: 1 }]),
  ).toBe('<?xml version="1.0" encoding="utf-8"?>\n<r>\n <i>\n  <a>1</a>\n </i>\n</r>\n');
});
