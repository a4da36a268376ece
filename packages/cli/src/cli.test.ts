import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const bin = fileURLToPath(new URL('bin.ts', import.meta.url));
const core = fileURLToPath(new URL('../../core', import.meta.url));

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

class Folder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.path, name)), { recursive: true });
    await writeFile(join(this.path, name), text);
  }

  read(name: string): Promise<string> {
    return readFile(join(this.path, name), 'utf8');
  }

  /** Runs the command as it is typed there. */
  lycosa(...args: readonly string[]): Promise<Outcome> {
    return this.node(bin, ...args);
  }

  async node(...args: readonly string[]): Promise<Outcome> {
    const child = spawn(process.execPath, ['--conditions=lycosa-source', ...args], {
      cwd: this.path,
      env: { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    const code = await new Promise<number | null>((done) => child.on('close', done));
    return { code, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

async function emptyFolder(): Promise<Folder> {
  return new Folder(await mkdtemp(join(tmpdir(), 'lycosa-cli-')));
}

const spider = (name: string, rest = ''): string => `
import { Spider, type Response } from 'lycosa';
export class S extends Spider {
  static override readonly name = '${name}';
  override readonly startUrls = ['data:text/html,<title>Hello</title>'];
  *parse(response: Response) { yield { title: response.css('title::text').get() }; }
  ${rest}
}`;

async function project(files: Readonly<Record<string, string>> = {}): Promise<Folder> {
  const folder = await emptyFolder();
  await mkdir(join(folder.path, 'node_modules'));
  await mkdir(join(folder.path, 'spiders'));
  await symlink(core, join(folder.path, 'node_modules', 'lycosa'));
  await folder.write('package.json', '{ "type": "module" }');
  await folder.write('lycosa.config.ts', 'export default { settings: { MY_LIMIT: 3 } };');
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  return folder;
}

test('crawl writes the items to the feed and exits 0', async () => {
  await using folder = await project({ 'spiders/hello.ts': spider('hello') });
  const { code, stderr } = await folder.lycosa('crawl', 'hello', '-O', 'out.jsonl');
  expect(stderr).toContain('Spider closed (finished)');
  expect(code).toBe(0);
  expect(await folder.read('out.jsonl')).toBe('{"title":"Hello"}\n');
});

test('a feed path is seen from the folder where it is typed, and - is standard output', async () => {
  await using folder = await project({ 'spiders/hello.ts': spider('hello'), 'sub/x': '' });
  const sub = new Folder(join(folder.path, 'sub'));
  await sub.lycosa('crawl', 'hello', '--nolog', '-O', 'out.csv');
  expect(await sub.read('out.csv')).toContain('Hello');
  const { stdout, stderr } = await sub.lycosa('crawl', 'hello', '--nolog', '-o', '-');
  expect(stdout).toBe('{"title":"Hello"}\n');
  expect(stderr).toBe('');
});

test('runspider needs no project', async () => {
  await using folder = await project({ 'one.ts': spider('one') });
  await rm(join(folder.path, 'lycosa.config.ts'));
  await rm(join(folder.path, 'package.json'));
  const run = await folder.lycosa('runspider', 'one.ts', '-L', 'WARNING', '-o', '-:json');
  expect(run).toEqual({ code: 0, stdout: '[\n{"title":"Hello"}\n]\n', stderr: '' });
});

test('a crawl that a limit closed exits 4, one in which all requests failed 3', async () => {
  await using folder = await project({
    'spiders/a.ts': spider('a'),
    'spiders/b.ts': spider('b', 'override *parse() { throw new Error("no"); }'),
  });
  const limited = await folder.lycosa('crawl', 'a', '-s', 'CLOSESPIDER_ITEMCOUNT=1');
  expect(limited.code).toBe(4);
  const failed = await folder.lycosa('crawl', 'b', '--nolog');
  expect(failed.code).toBe(3);
  expect(failed.stderr).toMatch(/^lycosa: .+\n$/);
});

test('list prints the names, sorted', async () => {
  await using folder = await project({
    'spiders/a.ts': spider('zoo'),
    'spiders/b.ts': spider('ant'),
  });
  expect(await folder.lycosa('list')).toEqual({ code: 0, stdout: 'ant\nzoo\n', stderr: '' });
});

test('of all settings no password, secret or token is printed', async () => {
  await using folder = await project({});
  const set = [
    'HTTPAUTH_PASS=one',
    'AWS_SECRET_ACCESS_KEY=two',
    'REDIS_URL=redis://me:three@h:1/2',
    'REDIS_PARAMS={"username":"me","password":"four"}',
  ];
  const flags = set.flatMap((pair) => ['-s', pair]);
  const { stdout } = await folder.lycosa('settings', ...flags);
  expect(stdout).toMatch(/^HTTPAUTH_PASS = \*\*\*$/m);
  expect(stdout).toContain('REDIS_URL = redis://***@h:1/2');
  expect(stdout).toContain('"password":"***"');
  expect(stdout).not.toMatch(/= (one|two)|three|four/);
  const one = await folder.lycosa('settings', '--get', 'HTTPAUTH_PASS', ...flags);
  expect(one.stdout.trim()).toBe('one');
});

test('settings prints one, as a spider sees it', async () => {
  const own = 'static override readonly customSettings = { DOWNLOAD_DELAY: 2 };';
  await using folder = await project({ 'spiders/a.ts': spider('a', own) });
  const get = async (...args: string[]): Promise<string> =>
    (await folder.lycosa('settings', '--get', ...args)).stdout.trim();
  expect(await get('DOWNLOAD_DELAY')).toBe('0');
  expect(await get('DOWNLOAD_DELAY', '--spider', 'a')).toBe('2');
  expect(await get('DOWNLOAD_DELAY', '--spider', 'a', '-s', 'DOWNLOAD_DELAY=5')).toBe('5');
  expect(await get('MY_LIMIT')).toBe('3');
});

test('startproject and genspider make what crawl runs', async () => {
  await using folder = await emptyFolder();
  expect((await folder.lycosa('startproject', 'Shop')).code).toBe(0);
  const shop = new Folder(join(folder.path, 'Shop'));
  expect(await shop.read('package.json')).toContain('"name": "shop"');
  expect(await shop.read('.gitignore')).toContain('node_modules');
  expect((await shop.lycosa('genspider', 'my_books', 'example.com')).code).toBe(0);
  const made = await shop.read('spiders/my-books.ts');
  expect(made).toContain('export class MyBooksSpider extends Spider<Page> {');
  expect(made).toContain("['https://example.com/']");
  expect((await shop.lycosa('list')).stdout).toBe('my_books\n');
  const again = await shop.lycosa('genspider', 'my_books', 'example.com');
  expect(again.stderr).toContain('my_books');
  expect(again.code).toBe(1);
  expect((await folder.lycosa('startproject', 'Shop')).stderr).toContain('is not empty');
});

test('genspider lists and prints templates', async () => {
  await using folder = await emptyFolder();
  expect((await folder.lycosa('genspider', '--list')).stdout).toBe('basic\ncrawl\nsitemap\n');
  expect((await folder.lycosa('genspider', '--dump', 'basic')).stdout).toContain('$classname');
});

test('version says the version of the package', async () => {
  await using folder = await emptyFolder();
  const { version } = JSON.parse(await readFile(join(dirname(bin), '../package.json'), 'utf8'));
  expect((await folder.lycosa('version')).stdout).toBe(`Lycosa ${version}\n`);
  expect((await folder.lycosa('version', '-v')).stdout).toMatch(/^undici +\d/m);
});

test.for([
  [['lsit'], 'Did you mean list?'],
  [['list', '--logfiel', 'x'], 'Did you mean --logfile?'],
  [['crawl', 'a', '--outptu', 'x'], 'Did you mean --output?'],
  [['crawl', 'a', '-x'], 'crawl has no option -x'],
  [['crawl', 'a', 'b'], '"b" is one word too many'],
  [['crawl'], 'Write lycosa crawl <spider>'],
  [['crawl', 'a', '-o'], '-o needs a value'],
  [['crawl', 'aa'], 'Did you mean a?'],
  [['crawl', 'a', '-s', 'DOWNLOAD_DELY=1'], 'Did you mean DOWNLOAD_DELAY?'],
  [['crawl', 'a', '-s', 'MY_LIMT=1'], 'Did you mean MY_LIMIT?'],
  [['crawl', 'a', '-s', 'DOWNLOAD_DELAY=fast'], 'DOWNLOAD_DELAY must be a number, got "fast"'],
  [['crawl', 'a', '-a', 'tga=1'], 'Spider a has no argument "tga". Did you mean tag?'],
  [['crawl', 'a', '-a', 'tag'], '-a takes NAME=VALUE'],
  [['crawl', 'a', '-o', 'x.json', '-O', 'y.json'], 'not both'],
  [['crawl', 'a', '-o', 'x.foo'], 'has the format "foo"'],
  [['settings', '--get', 'LOG_LEVL'], 'Did you mean LOG_LEVEL?'],
  [['genspider', '-t', 'baisc', 'x', 'x.de'], 'Did you mean basic?'],
  [['genspider', 'x', 'foo bar'], 'is no domain and no URL'],
  [['startproject', '1st'], 'cannot be named "1st"'],
  [['runspider', 'none.ts'], 'There is no file none.ts'],
] as const)('%j is refused in one line', async ([args, message]) => {
  await using folder = await project({
    'spiders/a.ts': spider('a', "static readonly args = ['tag'];"),
  });
  const { code, stdout, stderr } = await folder.lycosa(...args);
  expect(stderr).toMatch(/^lycosa: .+\n$/);
  expect(stderr).toContain(message);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

test('outside of a project crawl says how to make one', async () => {
  await using folder = await emptyFolder();
  const { code, stderr } = await folder.lycosa('crawl', 'a');
  expect(stderr).toContain('lycosa startproject');
  expect(code).toBe(1);
});

test.for(['a.ts', 'a.js'])(
  'a syntax error in %s is told with its line, without a stack',
  async (name) => {
    await using folder = await project({
      [`spiders/${name}`]: 'export class A {\n  foo( { = 3\n}\n',
    });
    const { code, stderr } = await folder.lycosa('list');
    expect(stderr).toMatch(/^lycosa: .+SyntaxError.+\n$/);
    expect(stderr).toContain(`(spiders/${name}:2)`);
    expect(code).toBe(1);
  },
);

test('a syntax error in the config is told with its line', async () => {
  await using folder = await project({ 'lycosa.config.ts': 'export default {\n  a: b: 1 };' });
  expect((await folder.lycosa('list')).stderr).toMatch(/^lycosa: .+\(lycosa\.config\.ts:2\)\n$/);
});

test('two spiders of one name are both named', async () => {
  await using folder = await project({ 'spiders/a.ts': spider('a'), 'spiders/b.ts': spider('a') });
  const { code, stderr } = await folder.lycosa('crawl', 'a');
  expect(stderr).toMatch(/^lycosa: .*spiders\/a\.ts.*spiders\/b\.ts.*\n$/);
  expect(code).toBe(1);
});

test('a feed that cannot be written ends the crawl before it begins', async () => {
  await using folder = await project({ 'spiders/a.ts': spider('a'), file: '' });
  const { code, stderr } = await folder.lycosa('crawl', 'a', '-O', 'file/out.jsonl', '--nolog');
  expect(stderr).toMatch(/^lycosa: The feed .*file\/out\.jsonl could not be opened.*\n$/);
  expect(code).toBe(1);
});

test('a start URL without a scheme ends with its message and exit code 3', async () => {
  const text = spider('a').replace('data:text/html,<title>Hello</title>', 'example.com/x');
  await using folder = await project({ 'spiders/a.ts': text });
  const { code, stderr } = await folder.lycosa('crawl', 'a', '--nolog');
  expect(stderr).toMatch(/^lycosa: "example\.com\/x" has no scheme.*\n$/);
  expect(code).toBe(3);
});

test('a promise that fails with nobody waiting makes the crawl fail, not the process', async () => {
  const rest = 'override *parse() { Promise.reject(new Error("lost")); yield { a: 1 }; }';
  await using folder = await project({ 'spiders/a.ts': spider('a', rest) });
  const { code, stderr } = await folder.lycosa('crawl', 'a', '-O', 'out.jsonl');
  expect(stderr).toContain('A promise failed and nobody waited for it: lost');
  expect(stderr).toContain('Stored 1 items');
  expect(code).toBe(3);
});

test('a misspelled setting of the config is a warning', async () => {
  await using folder = await project({
    'spiders/a.ts': spider('a'),
    'lycosa.config.ts': 'export default { settings: { DOWNLOAD_DELY: 3 } };',
  });
  const { stderr } = await folder.lycosa('crawl', 'a');
  expect(stderr).toContain(
    'WARNING: There is no built-in setting DOWNLOAD_DELY. Was DOWNLOAD_DELAY meant?',
  );
});

test('a job is shown and cleared, and a folder without one is said to have none', async () => {
  await using folder = await project({ 'spiders/a.ts': spider('a') });
  await folder.lycosa('crawl', 'a', '-s', 'JOBDIR=jobs/a', '--nolog');
  const shown = await folder.lycosa('job', 'show', 'jobs/a');
  expect(shown.stdout).toMatch(
    /^Run by nobody\nRuns: 1\nPending: 0\nSeen: 1\nSet aside: 0\nStats:\n/,
  );
  expect(shown.stdout).toContain('  account/done: 1\n');
  expect((await folder.lycosa('job', 'clear', 'jobs/a')).code).toBe(0);
  const { code, stderr } = await folder.lycosa('job', 'show', 'jobs/a');
  expect(stderr).toBe('lycosa: There is no job in jobs/a. JOBDIR names the folder of a job.\n');
  expect(code).toBe(1);
});

test('a feed that a crash has left as a part is repaired', async () => {
  await using folder = await project({ 'out.jsonl.part': '{"a":1}\n{"a":2}\n{"a":' });
  const { stdout } = await folder.lycosa('feed', 'repair', 'out.jsonl.part');
  expect(stdout).toBe('out.jsonl: 2 records, 5 bytes of a torn record cut off\n');
  expect(await folder.read('out.jsonl')).toBe('{"a":1}\n{"a":2}\n');
});
