/**
 * Makes projects and spiders from the files beside this one. Words that begin with `$` in them are filled in.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

/** Files that a package cannot hold under their own name. */
const renamed = { gitignore: '.gitignore' };
/** What a folder may hold that a project is made in. */
const harmless = new Set(['.git', '.gitignore', '.gitattributes', 'LICENSE', 'README.md']);

export function createProject(name, folder = name) {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name)) {
    throw new Error(
      `A project cannot be named ${JSON.stringify(name)}. Use a letter, then letters, digits, - and _; a folder may follow: startproject quotes ./work/quotes`,
    );
  }
  const target = resolve(folder);
  const taken = existsSync(target) ? readdirSync(target).filter((file) => !harmless.has(file)) : [];
  if (taken.length > 0) {
    throw new Error(`The folder ${folder} is not empty: it has ${taken[0]}. Choose another one.`);
  }
  copy(join(here, 'project'), target, { name: name.toLowerCase(), version });
  const isLinked = linkCheckout(target);
  const cd = relative('', target);
  return {
    folder: target,
    nextSteps: [
      ...(cd ? [`cd ${cd}`] : []),
      ...(isLinked ? [] : ['npm install']),
      'npx lycosa genspider quotes quotes.toscrape.com',
      'npx lycosa crawl quotes -O quotes.jsonl',
    ],
  };
}

export function spiderTemplates() {
  return readdirSync(join(here, 'spiders'))
    .map((file) => basename(file, '.ts'))
    .toSorted();
}

export function spiderTemplate(name) {
  return readFileSync(join(here, 'spiders', `${name}.ts`), 'utf8');
}

export function createSpider({ name, url, template = 'basic', folder, replace = false }) {
  if (!/^[a-z][a-z0-9_-]*$/i.test(name)) {
    throw new Error(
      `A spider cannot be named ${JSON.stringify(name)}. Use a letter, then letters, digits, - and _.`,
    );
  }
  const start = parseStart(url);
  const file = join(folder, `${name.replaceAll('_', '-')}.ts`);
  if (existsSync(file) && !replace) {
    throw new Error(`${relative('', file)} exists already. Choose another name, or use --force.`);
  }
  mkdirSync(folder, { recursive: true });
  const words = { name, classname: className(name), domain: start.hostname, url: start.href };
  writeFileSync(file, fill(spiderTemplate(template), words));
  return file;
}

function parseStart(text) {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // Quotes would end the text that it is put into.
  if (!url || !/^https?:$/.test(url.protocol) || !/^[\w.:[\]-]+$/.test(url.hostname)) {
    throw new Error(
      `${JSON.stringify(text)} is no domain and no URL. Write quotes.toscrape.com or https://quotes.toscrape.com/page/1/`,
    );
  }
  url.href = url.href.replaceAll("'", '%27');
  return url;
}

function className(name) {
  const words = name.split(/[-_]+/).filter(Boolean);
  const joined = words.map((word) => word[0].toUpperCase() + word.slice(1)).join('');
  return /spider$/i.test(joined) ? joined : `${joined}Spider`;
}

function copy(from, to, words) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, renamed[entry.name] ?? entry.name);
    if (entry.isDirectory()) copy(source, target, words);
    else if (!existsSync(target)) writeFileSync(target, fill(readFileSync(source, 'utf8'), words));
  }
}

function fill(text, words) {
  return text.replace(/\$([a-z]+)/g, (whole, word) => words[word] ?? whole);
}

/**
 * Made by a checkout of Lycosa rather than by an installed package, a project uses that checkout: its packages may be
 * in no registry.
 */
function linkCheckout(target) {
  const packages = join(realpathSync(here), '..', 'packages');
  if (realpathSync(here).includes('node_modules') || !existsSync(join(packages, 'cli', 'src'))) {
    return false;
  }
  const modules = join(target, 'node_modules');
  const links = { lycosa: 'core', '@lycosa/cli': 'cli' };
  for (const [name, folder] of Object.entries(links)) {
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    rmSync(link, { force: true, recursive: true });
    symlinkSync(join(packages, folder), link, 'junction');
  }
  mkdirSync(join(modules, '.bin'), { recursive: true });
  for (const [name, file] of Object.entries({ lycosa: 'bin', crawl: 'crawl' })) {
    const path = join(packages, 'cli', 'dist', `${file}.js`);
    const script = `#!/bin/sh\nexec node ${JSON.stringify(path)} "$@"\n`;
    writeFileSync(join(modules, '.bin', name), script, { mode: 0o755 });
  }
  return true;
}
