import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = ['packages/core', 'packages/cli', 'packages/redis', 'templates'];
let consumer: string;

/** Runs a program in the consumer's folder. What it printed is in the error when it fails. */
async function run(program: string, args: readonly string[], cwd = consumer): Promise<string> {
  // vitest's own conditions would lead Node into our sources.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = promisify(execFile)(program, args, { cwd, env, maxBuffer: 64 << 20 });
  try {
    return (await child).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`);
  }
}

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'lycosa-consumer-'));
  const tarballs = join(consumer, 'tarballs');
  for (const folder of packages) {
    await run('pnpm', ['pack', '--pack-destination', tarballs], join(root, folder));
  }
  const names = await readdir(tarballs);
  const tarball = (start: string): string => {
    const name = names.find((file) => new RegExp(`^${start}-\\d`).test(file));
    return `file:./tarballs/${name}`;
  };
  const dependencies = {
    lycosa: tarball('lycosa'),
    '@lycosa/cli': tarball('lycosa-cli'),
    '@lycosa/redis': tarball('lycosa-redis'),
    'create-lycosa': tarball('create-lycosa'),
  };
  const manifest = { name: 'consumer', private: true, type: 'module', dependencies };
  await writeFile(join(consumer, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error']);
}, 300_000);

afterAll(async () => {
  await rm(consumer, { recursive: true, force: true });
});

async function exportedNames(name: string): Promise<string[]> {
  const script = `console.log(JSON.stringify(Object.keys(await import('${name}')).sort()))`;
  return JSON.parse(await run('node', ['--input-type=module', '--eval', script])) as string[];
}

test('lycosa exports these names', async () => {
  expect(await exportedNames('lycosa')).toMatchInlineSnapshot(`
    [
      "CannotResolveHostError",
      "CloseSpider",
      "Control",
      "CrawlSpider",
      "Crawler",
      "CrawlerProcess",
      "CrawlerSlots",
      "CsvExporter",
      "DontCloseSpider",
      "DownloadCancelledError",
      "DownloadConnectionRefusedError",
      "DownloadError",
      "DownloadFailedError",
      "DownloadProxyError",
      "DownloadTimeoutError",
      "Downloader",
      "DropItem",
      "DummyStatsCollector",
      "Engine",
      "FingerprintDupeFilter",
      "FormRequest",
      "Headers",
      "HtmlResponse",
      "HttpError",
      "IgnoreRequest",
      "ItemPipelines",
      "JsonRequest",
      "JsonResponse",
      "LinkExtractor",
      "LogFormatter",
      "LycosaError",
      "MemoryScheduler",
      "NoDupeFilter",
      "NotConfigured",
      "NotSupportedError",
      "ParseTimeoutError",
      "Request",
      "RequestFingerprinter",
      "RequestFingerprints",
      "Response",
      "ResponseDataLossError",
      "RobotsTxt",
      "Rule",
      "Scraper",
      "Selector",
      "SelectorList",
      "Settings",
      "SettingsError",
      "SignalManager",
      "SitemapSpider",
      "Slot",
      "SlotRegistry",
      "Spider",
      "SpiderLoadError",
      "SpiderLoader",
      "StatsCollector",
      "StopDownload",
      "TextResponse",
      "UnsupportedUrlSchemeError",
      "UsageError",
      "XmlResponse",
      "callbackRefusal",
      "canonicalizeUrl",
      "clearJob",
      "createLogger",
      "createResponse",
      "defaultSettings",
      "defineConfig",
      "deserializeRequest",
      "fingerprint",
      "getRetryRequest",
      "nearest",
      "parseFeedOption",
      "parseFeedOutputs",
      "readJob",
      "readSitemap",
      "redactText",
      "repairFeed",
      "repairJob",
      "requestFromDict",
      "serializeRequest",
      "toError",
      "unknownSettings",
    ]
  `);
});

test('@lycosa/cli and @lycosa/redis can be imported', async () => {
  expect(await exportedNames('@lycosa/cli')).toBeInstanceOf(Array);
  expect(await exportedNames('@lycosa/redis')).toBeInstanceOf(Array);
  expect(await exportedNames('@lycosa/redis/dashboard')).toEqual(['Dashboard', 'dashboardOptions']);
});

test('nothing but the listed doors can be imported', async () => {
  await expect(exportedNames('lycosa/dist/http/request.js')).rejects.toThrow(
    'ERR_PACKAGE_PATH_NOT_EXPORTED',
  );
});

test('the installed command says its version', async () => {
  expect(await run('node_modules/.bin/lycosa', ['version'])).toContain('0.1.0');
});

test('tarballs hold sources for the source maps, and no tests', async () => {
  const files = await readdir(join(consumer, 'node_modules/lycosa'), { recursive: true });
  expect(files).toContain(join('src', 'http', 'request.ts'));
  expect(files).toContain(join('dist', 'http', 'request.js'));
  expect(files.filter((file) => file.includes('.test.'))).toEqual([]);
});

test('the dashboard has its page with it', async () => {
  const files = await readdir(join(consumer, 'node_modules/@lycosa/redis'), { recursive: true });
  const page = ['src/ui/page/index.html', 'src/ui/page/style.css', 'dist/ui/page/main.js'];
  expect(files).toEqual(expect.arrayContaining(page.map((file) => join(...file.split('/')))));
});

test('settings, signals, meta and items are typed from outside the package', async () => {
  await copyFile(join(root, 'test/packaging/consumer/consumer.ts'), join(consumer, 'consumer.ts'));
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    erasableSyntaxOnly: true,
    // Our declarations are checked as well: a user may not skip them.
    skipLibCheck: false,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  await writeFile(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
  );
  expect(await run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
});
