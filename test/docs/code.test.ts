import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from 'vitest';

import { codeBlocks, pages, readPage, root } from './markdown.ts';

/** What stands for itself in a snippet that exports nothing. */
const around = "declare const response: import('lycosa').Response;\n";

/**
 * The TypeScript of a page as files. A snippet is a file of its own; blocks that name a file are one project, as it
 * stands wherever a command is typed.
 */
function filesOf(name: string): Map<string, string> {
  const files = new Map<string, string>();
  const project = new Map<string, string>();
  const folder = name.replace(/\.md$/, '');
  for (const { language, line, code, file } of codeBlocks(readPage(name))) {
    if (language === 'ts' && file === undefined) {
      const prelude = /^export /m.test(code) ? '' : around;
      files.set(`${folder}/line-${line}.ts`, `${prelude}${code}\nexport {};\n`);
    } else if (language === 'ts') {
      project.set(file!, code);
    } else if (language === 'sh') {
      for (const [path, text] of project) files.set(`${folder}/at-line-${line}/${path}`, text);
    }
  }
  return files;
}

it('every TypeScript block of the manual compiles', { timeout: 120_000 }, async () => {
  const temp = mkdtempSync(join(root, 'test/.docs-'));
  try {
    let count = 0;
    for (const page of pages) {
      for (const [path, code] of filesOf(page)) {
        mkdirSync(dirname(join(temp, path)), { recursive: true });
        writeFileSync(join(temp, path), code);
        count++;
      }
    }
    writeFileSync(
      join(temp, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.test.json', include: ['**/*.ts'], exclude: [] }),
    );
    expect(count).toBeGreaterThan(10);
    expect(await compile(temp)).toBe('');
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
});

/** What the compiler has to say. */
function compile(folder: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', folder, '--pretty', 'false'],
      { cwd: folder, shell: process.platform === 'win32' },
      (error, stdout, stderr) => resolve(stdout + stderr + (error && !stdout ? error.message : '')),
    );
  });
}
