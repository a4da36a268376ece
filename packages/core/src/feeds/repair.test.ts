import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { repairFeed } from './repair.ts';

async function folder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'feeds-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function repaired(
  name: string,
  part: string,
): Promise<{ text: string; records: number; cutBytes: number }> {
  await using dir = await folder();
  await writeFile(join(dir.path, `${name}.part`), part);
  const { path, records, cutBytes } = await repairFeed(join(dir.path, `${name}.part`));
  await expect(stat(join(dir.path, `${name}.part`))).rejects.toThrow('ENOENT');
  const bytes = await readFile(path);
  return { text: (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString(), records, cutBytes };
}

test('a torn last record is cut off, and what is open is closed', async () => {
  expect(await repaired('a.jsonl', '{"a":1}\n{"a":2')).toEqual({
    text: '{"a":1}\n',
    records: 1,
    cutBytes: 6,
  });
  expect((await repaired('a.json', '[\n{"a":"]},"},\n{"b":[1,{"c":')).text).toBe(
    '[\n{"a":"]},"}\n]\n',
  );
  expect((await repaired('a.json', '[\n{"a":1}')).text).toBe('[\n{"a":1}\n]\n');
  expect((await repaired('a.json', '[1,"x",2')).text).toBe('[1,"x"\n]\n');
  expect(
    (await repaired('a.xml', '<?xml version="1.0"?>\n<r>\n<i><a>1</a></i>\n<i><a>')).text,
  ).toBe('<?xml version="1.0"?>\n<r>\n<i><a>1</a></i>\n</r>\n');
  expect((await repaired('a.jsonl.gz', '{"a":1}\n{')).text).toBe('{"a":1}\n');
});

test('a part without records becomes an empty feed', async () => {
  expect((await repaired('a.json', '')).text).toBe('[]\n');
  expect((await repaired('a.json', '[')).text).toBe('[]\n');
  expect((await repaired('a.jsonl', '{"a')).text).toBe('');
  expect((await repaired('a.csv', 'a,b')).text).toBe('');
});

test('csv rows get the columns that were found after them', async () => {
  const part = 'a,b\n1,"x\ny"\na,b,c\n1,2,3\na,b,c,d\n1,2,3,"to';
  expect(await repaired('a.csv', part)).toMatchObject({
    text: 'a,b,c,d\n1,"x\ny",,\n1,2,3,\n',
    records: 2,
  });
});

test('a finished file is not replaced unless asked', async () => {
  await using dir = await folder();
  const part = join(dir.path, 'a.jsonl.part');
  await writeFile(part, '{}\n');
  await writeFile(join(dir.path, 'a.jsonl'), 'old');
  await expect(repairFeed(part)).rejects.toThrow('exists');
  await repairFeed(part, 'jsonl', { overwrite: true });
  expect(await readFile(join(dir.path, 'a.jsonl'), 'utf8')).toBe('{}\n');
  await expect(repairFeed(part)).rejects.toThrow('does not exist');
  await expect(repairFeed(join(dir.path, 'a.jsonl'))).rejects.toThrow('no part');
});

test('a latin1 part keeps its header', async () => {
  await using dir = await folder();
  const part = join(dir.path, 'a.csv.part');
  await writeFile(part, 'é\n1\né,b\n1,2\n', 'latin1');
  await repairFeed(part, 'csv', { encoding: 'latin1' });
  expect(await readFile(join(dir.path, 'a.csv'), 'latin1')).toBe('é,b\n1,\n1,2\n');
});
