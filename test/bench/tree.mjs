// Compares our trees with htmlparser2's, and with Chromium's where it is installed:
//   node --conditions=lycosa-source test/bench/tree.mjs [FOLDER...] [--pages 2000] [--chromium chromium]
// The folders hold HTML files; /usr/share/doc if there is none: `apt-get install python3.11-doc sqlite3-doc` and the like.
import { execFile } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

import { isComment, isDirective, isTag, isText } from 'domhandler';
import { parseDocument } from 'htmlparser2';
import { createResponse } from 'lycosa';

import { cases } from './tree-cases.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: 'string', default: '2000' },
    chromium: { type: 'string', default: 'chromium' },
  },
});

/** A tree as lines, one a node. */
function outline(nodes, out = [], indent = '') {
  for (const node of nodes) {
    if (isText(node)) out.push(`${indent}${JSON.stringify(node.data)}`);
    else if (isComment(node)) out.push(`${indent}<!--${node.data}-->`);
    else if (isDirective(node)) out.push(`${indent}<${node.data}>`);
    else if (isTag(node)) {
      out.push(`${indent}${node.name} ${JSON.stringify(node.attribs)}`);
      outline(node.children, out, `${indent} `);
    }
  }
  return out;
}

/** A response whose text is decoded, so that only its tree is still to be made. */
function pageOf(html) {
  const body = Buffer.from(html);
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  const page = createResponse('http://page.test/', { body, headers });
  // Decoding it here keeps that out of what is timed.
  void page.text;
  return page;
}

const ours = (html) => pageOf(html).tree;

/** The first line in which two trees differ; undefined where they are the same. */
function difference(a, b) {
  const at = a.findIndex((line, i) => line !== b[i]);
  if (at < 0 && a.length === b.length) return undefined;
  const line = at < 0 ? a.length : at;
  return { line, ours: a[line], theirs: b[line] };
}

/** CPU milliseconds. */
function since(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function read(file) {
  const bytes = readFileSync(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}

async function findPages() {
  const found = new Map();
  for (const folder of positionals.length > 0 ? positionals : ['/usr/share/doc']) {
    for await (const file of glob('**/*.{html,htm,xhtml,html.gz}', { cwd: folder })) {
      if (!lstatSync(join(folder, file)).isFile()) continue;
      const [name] = file.split('/');
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(join(folder, file));
    }
  }
  // The same number from each package, as far as it has that many; evenly from what each has.
  const chosen = [];
  let left = Number(values.pages);
  const packages = [...found].toSorted(([, a], [, b]) => a.length - b.length);
  for (const [i, [, files]] of packages.entries()) {
    const share = Math.min(files.length, Math.ceil(left / (packages.length - i)));
    files.sort();
    for (let k = 0; k < share; k++) chosen.push(files[Math.floor((k * files.length) / share)]);
    left -= share;
  }
  return { chosen, packages: packages.map(([name]) => name) };
}

/** What both parsers take for the same 20 MB, once they are warm. */
function compareTime(files) {
  const pages = [];
  let bytes = 0;
  for (let i = 0; i < files.length && bytes < 20e6; i++) {
    // From all packages: the list goes from one to the next.
    const html = pageOf(read(files[(i * 7) % files.length])).text;
    pages.push(html);
    bytes += html.length;
  }
  const cost = (parse) => {
    let took = 0;
    for (let round = 0; round < 3; round++) {
      const start = process.cpuUsage();
      for (const html of pages) parse(html);
      took = since(start);
    }
    return ((took / bytes) * 1e6).toFixed(1);
  };
  const theirs = cost((html) => parseDocument(html));
  const mine = cost((html) => ours(html));
  console.log(
    `CPU milliseconds a MB, the third time: ${mine} ours with decoding, ${theirs} htmlparser2 without.`,
  );
}

async function comparePages() {
  const { chosen, packages } = await findPages();
  let bytes = 0;
  let deepest = 0;
  const differences = [];
  for (const file of chosen) {
    const page = pageOf(read(file));
    const html = page.text;
    bytes += html.length;
    const lines = outline(page.tree.children);
    for (const line of lines) deepest = Math.max(deepest, line.search(/\S/));
    const found = difference(lines, outline(parseDocument(html).children));
    if (found) differences.push({ file, ...found });
  }
  console.log(
    `${chosen.length} pages of ${packages.length} packages, ${(bytes / 1e6).toFixed(1)} MB, at most ${deepest} levels: ${differences.length} trees differ from htmlparser2's.`,
  );
  compareTime(chosen);
  for (const { file, line, ...both } of differences)
    console.log(`  ${relative(process.cwd(), file)} line ${line}`, both);
  return differences.length;
}

function compareCases() {
  const differing = cases.filter((html) =>
    difference(outline(ours(html).children), outline(parseDocument(html).children)),
  );
  console.log(
    `${cases.length} misnested and broken pages: ${differing.length} trees differ from htmlparser2's.`,
  );
  for (const html of differing) {
    console.log(`  ${JSON.stringify(html)}`);
    console.log(`    ours         ${short(ours(html))}`);
    console.log(`    htmlparser2  ${short(parseDocument(html))}`);
  }
  return differing;
}

/** A tree on one line, as a reader of the page sees it: without what every page has. */
function short(tree) {
  const write = (nodes) =>
    nodes
      .map((node) => {
        if (isText(node)) return JSON.stringify(node.data);
        if (!isTag(node)) return '';
        const inner = write(node.children);
        return /^(html|head|body|tbody|colgroup)$/.test(node.name)
          ? inner
          : `${node.name}(${inner})`;
      })
      .filter(Boolean)
      .join(' ');
  return write(tree.children);
}

// Runs in the browser; it gives the trees in the form of `short`.
const inBrowser = `
const write = (nodes) => [...nodes].map((node) => {
  if (node.nodeType === 3) return JSON.stringify(node.data);
  if (node.nodeType !== 1) return '';
  const inner = write(node.content ? node.content.childNodes : node.childNodes);
  const name = node.localName.toLowerCase();
  return /^(html|head|body|tbody|colgroup)$/.test(name) ? inner : name + '(' + inner + ')';
}).filter(Boolean).join(' ');
const parser = new DOMParser();
const trees = JSON.parse(document.querySelector('#cases').textContent).map((html) =>
  write(parser.parseFromString(html, 'text/html').childNodes));
document.querySelector('#cases').remove();
document.body.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(trees))));
`;

async function browserTrees() {
  const folder = mkdtempSync(join(tmpdir(), 'lycosa-trees-'));
  const page = join(folder, 'page.html');
  const json = JSON.stringify(cases).replaceAll('<', '\\u003c').replaceAll('\u0000', '\\u0000');
  writeFileSync(
    page,
    `<meta charset=utf-8><body><script id=cases type=application/json>${json}</script><script>${inBrowser}</script>`,
  );
  try {
    const { stdout } = await promisify(execFile)(
      values.chromium,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        `--user-data-dir=${folder}/profile`,
        '--dump-dom',
        `file://${page}`,
      ],
      { timeout: 60_000, maxBuffer: 10_000_000 },
    );
    const [, encoded] = /<body>([\w+/=]+)<\/body>/.exec(stdout) ?? [];
    return encoded && JSON.parse(Buffer.from(encoded, 'base64').toString());
  } catch (error) {
    console.log(`No comparison with a browser: ${error.message.split('\n')[0]}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const pageDifferences = await comparePages();
const caseDifferences = compareCases();
const browser = await browserTrees();
if (browser) {
  const differing = cases.filter((html, i) => short(ours(html)) !== browser[i]);
  console.log(
    `Chromium sees ${cases.length - differing.length} of the ${cases.length} as we do. The others, as htmlparser2 has them:`,
  );
  for (const html of differing) {
    console.log(`  ${JSON.stringify(html)}`);
    console.log(`    ours      ${short(ours(html))}`);
    console.log(`    Chromium  ${browser[cases.indexOf(html)]}`);
  }
}
process.exitCode = pageDifferences + caseDifferences.length > 0 ? 1 : 0;
