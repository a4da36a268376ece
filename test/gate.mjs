/**
 * The whole check. Every step runs, whatever the ones before it said; the last line counts vitest's
 * tests and each other step as one: `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const temp = await mkdtemp(join(tmpdir(), 'lycosa-gate-'));
const report = join(temp, 'vitest.json');

const steps = [
  { name: 'format', command: ['oxfmt', '--check', '.'] },
  { name: 'build', command: ['tsc', '-b'] },
  // After the build: the linter reads the types that our packages give to one another.
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.test.json'] },
  {
    name: 'tests',
    command: [
      'vitest',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    live: true,
    count: countTests,
  },
  {
    name: 'packages',
    command: '-r --filter ./packages/* --filter create-lycosa exec publint --strict'.split(' '),
  },
  { name: 'unused', command: ['knip'] },
];

/** A step's output shows as it comes where it is long and readable, else only when the step failed. */
function run(command, live) {
  return new Promise((resolve) => {
    const pnpm = command[0] === '-r' ? command : ['exec', ...command];
    const child = spawn('pnpm', pnpm, {
      cwd: root,
      stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    }
    child.on('error', (error) => resolve({ ok: false, output: error.message }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

/**
 * What vitest counted. A file that could not be loaded has no test that failed, and an error outside
 * of tests fails only the run: either is one failure more, as is a run without a test.
 */
async function countTests(ok) {
  let result;
  try {
    result = JSON.parse(await readFile(report, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const passed = result.numPassedTests;
  const skipped = result.numPendingTests + (result.numTodoTests ?? 0);
  const unloaded = result.testResults.filter(
    (file) =>
      file.status === 'failed' &&
      !file.assertionResults.some((assertion) => assertion.status === 'failed'),
  ).length;
  let failed = result.numFailedTests + unloaded;
  if (failed === 0 && (!ok || passed === 0)) failed = 1;
  return { passed, failed, skipped };
}

function countStep(ok) {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

const rows = [];
const total = { passed: 0, failed: 0, skipped: 0 };
try {
  for (const { name, command, live = false, count = countStep } of steps) {
    console.log(`- ${name}`);
    const start = performance.now();
    const { ok, output } = await run(command, live);
    const counted = await count(ok);
    if (!ok && output) console.log(`${output.trimEnd()}\n`);
    for (const key of Object.keys(total)) total[key] += counted[key];
    rows.push({ name, ok: counted.failed === 0, seconds: (performance.now() - start) / 1000 });
  }
} finally {
  await rm(temp, { recursive: true, force: true });
}

console.log();
for (const { name, ok, seconds } of rows) {
  console.log(`${name.padEnd(10)}${ok ? 'ok    ' : 'FAILED'}${seconds.toFixed(1).padStart(8)} s`);
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed === 0 ? 0 : 1;
