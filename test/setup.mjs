/**
 * `node test/setup.mjs demo|gate`: brings what this machine lacks, then runs the demo or the gate.
 * Plain JavaScript without dependencies, because it has to run before anything is installed, on Node 20 too.
 */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, '.tools');
const goal = process.argv[2];
const nodeFloor = [22, 19];
const pnpmFloor = [12, 0];

const env = { ...process.env, COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' };

/** Runs a command and keeps what it says; `code` is undefined when it could not be started. */
function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // npm and pnpm are scripts on Windows, which only a shell can start.
      shell: process.platform === 'win32',
      ...options,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    }
    child.on('error', (error) => resolve({ code: undefined, output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? `signal ${signal}`, output }));
  });
}

/** One line for a step that works; all it said for one that does not. */
async function step(title, command, args, options) {
  const start = Date.now();
  console.log(`- ${title}`);
  const { code, output } = await run(command, args, options);
  if (code === 0) return;
  console.error(`${output.trimEnd()}\n`);
  throw new Error(
    `${title}: \`${[command, ...args].join(' ')}\` failed (${code ?? 'not found'}) after ${Math.round((Date.now() - start) / 1000)} s.`,
  );
}

async function version(command) {
  const { code, output } = await run(command, ['--version']);
  const found = /(\d+)\.(\d+)\.\d+/.exec(output);
  return code === 0 && found ? [Number(found[1]), Number(found[2])] : undefined;
}

function reaches(found, floor) {
  return found && (found[0] > floor[0] || (found[0] === floor[0] && found[1] >= floor[1]));
}

async function hasTools() {
  const [node, pnpm] = await Promise.all([version('node'), version('pnpm')]);
  return reaches(node, nodeFloor) && reaches(pnpm, pnpmFloor);
}

async function bringTools() {
  if (await hasTools()) return;
  const bin = process.platform === 'win32' ? tools : join(tools, 'bin');
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  env[key] = `${bin}${delimiter}${env[key] ?? ''}`;
  if (await hasTools()) return;
  await step('installing Node 24 and pnpm 12 into .tools', 'npm', [
    'install',
    '--global',
    '--prefix',
    tools,
    'node@24',
    'pnpm@12',
  ]);
  if (!(await hasTools())) {
    throw new Error(
      'Node >= 22.19 and pnpm >= 12 could not be installed into .tools. Install them by hand.',
    );
  }
}

/** Programs that tests drive: a name to look for, and the package that has it. */
const programs = [
  { names: ['redis-server'], package: 'redis-server' },
  { names: ['chromium', 'chromium-browser', 'google-chrome'], package: 'chromium' },
];

async function bringPrograms() {
  const missing = [];
  for (const program of programs) {
    const found = await Promise.all(program.names.map((name) => run(name, ['--version'])));
    if (!found.some(({ code }) => code === 0)) missing.push(program.package);
  }
  if (missing.length === 0) return;
  const canInstall = process.getuid?.() === 0 && (await run('apt-get', ['--version'])).code === 0;
  if (!canInstall) {
    const verb = missing.length === 1 ? 'is' : 'are';
    console.log(
      `! ${missing.join(' and ')} ${verb} missing and can only be installed here as root with apt-get: tests that need ${missing.length === 1 ? 'it' : 'them'} will fail.`,
    );
    return;
  }
  env.DEBIAN_FRONTEND = 'noninteractive';
  try {
    await step('refreshing the list of packages', 'apt-get', ['update', '-qq']);
    for (const name of missing) {
      const args = ['install', '-y', '-qq', '--no-install-recommends', name];
      await step(`installing ${name}`, 'apt-get', args);
    }
  } catch (error) {
    console.log(`! ${error.message} Tests that need it will fail.`);
  }
}

/** Runs the last command with the terminal, and ends as it ends. */
async function handOver(script) {
  const child = spawn('node', [join(root, 'test', script), ...process.argv.slice(3)], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  // The child gets the signal from the terminal too, and decides when to end.
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => {});
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function main() {
  if (goal !== 'demo' && goal !== 'gate') {
    throw new Error(`Usage: node test/setup.mjs demo|gate, got ${JSON.stringify(goal ?? '')}.`);
  }
  await bringTools();
  if (goal === 'gate') await bringPrograms();
  // `CI` tells pnpm that nobody is there to answer its questions.
  await step('installing dependencies', 'pnpm', ['install', '--frozen-lockfile'], {
    env: { ...env, CI: 'true' },
  });
  if (goal === 'gate') return handOver('gate.mjs');
  await step('building', 'pnpm', ['--silent', 'build']);
  return handOver(join('demo', 'demo.mjs'));
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message);
  // Whoever reads the last line of the gate finds its count there whatever happened.
  if (goal === 'gate') console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
