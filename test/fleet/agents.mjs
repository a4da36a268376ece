/** Agents of a fleet, each a process of its own, as on machines of their own: killed ones come back after a second. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Agents run from the sources where we do, or else from the build. */
const fromSources = process.execArgv.filter((one) => one === '--conditions=lycosa-source');
const file = fromSources.length > 0 ? 'src/bin.ts' : 'dist/bin.js';
const bin = fileURLToPath(new URL(`../../packages/cli/${file}`, import.meta.url));
const project = fileURLToPath(new URL('project', import.meta.url));

export class Agents {
  /** Those that live, by their number. */
  living = new Map();
  kills = 0;
  #isOver = false;
  #args;
  #settings;
  #env;

  constructor(args, settings, env = {}) {
    this.#args = args;
    this.#settings = settings;
    this.#env = env;
  }

  start(number) {
    const settings = [...this.#settings, `FLEET_MACHINE=m${number}`];
    const child = spawn(
      process.execPath,
      [
        ...fromSources,
        bin,
        'fleet',
        'run',
        ...this.#args,
        ...settings.flatMap((one) => ['-s', one]),
      ],
      {
        cwd: project,
        env: { ...process.env, ...this.#env },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    this.living.set(number, child);
    child.once('exit', (code) => {
      this.living.delete(number);
      if (!this.#isOver && code !== 0) setTimeout(() => !this.#isOver && this.start(number), 1000);
    });
  }

  /** Kills a process: of one agent, itself or one of its hosts. */
  kill(random) {
    const agent = [...this.living.values()][Math.floor(random() * this.living.size)];
    if (!agent) return;
    const hosts = childrenOf(agent.pid);
    const victim = random() < 0.5 && hosts.length > 0 ? hosts[0] : agent.pid;
    this.kills++;
    try {
      process.kill(victim, 'SIGKILL');
    } catch {
      // It has ended just now.
    }
  }

  /** Seconds of CPU that the living agents and their hosts have used so far. */
  cpuSeconds() {
    const cpu = { agents: 0, hosts: 0 };
    for (const { pid } of this.living.values()) {
      const [agent, ended] = secondsOf(pid);
      cpu.agents += agent;
      cpu.hosts += ended;
      for (const host of childrenOf(pid)) cpu.hosts += secondsOf(host)[0];
    }
    return cpu;
  }

  end() {
    this.#isOver = true;
    for (const agent of this.living.values()) agent.kill('SIGKILL');
  }
}

export function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(statOf(pid)?.[1]) === parent)
    .map(Number);
}

/** Seconds of CPU that it has used, and those of its children that have ended. */
function secondsOf(pid) {
  const [user, system, userEnded, systemEnded] = (statOf(pid) ?? []).slice(11, 15).map(Number);
  return [((user ?? 0) + (system ?? 0)) / 100, ((userEnded ?? 0) + (systemEnded ?? 0)) / 100];
}

/** The fields after the name: state, parent, … */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  } catch {
    return undefined;
  }
}
