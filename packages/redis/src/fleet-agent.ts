import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import {
  type ConnectionOptions,
  DelayedError,
  type Job,
  UnrecoverableError,
  WaitingError,
  Worker,
} from 'bullmq';
import { LycosaError, type RootLogger } from 'lycosa';

import { clientOptions } from './connection.ts';
import type { FromHost, HostConfig, ToHost } from './fleet-messages.ts';
import { type Fleet, type FleetJob, queueName, queuePrefix } from './fleet.ts';
import type { ReasonVerdict, RunRecord } from './reasons.ts';
import type { Claim } from './spider-sets.ts';

export interface FleetAgentOptions {
  readonly host: HostConfig;
  readonly log: Pick<RootLogger, 'info' | 'warn' | 'error'>;
  /** Spiders at once on this machine; 20 by default. */
  readonly count?: number;
  /** Processes that they are spread over; 1 by default. */
  readonly hosts?: number;
  /** Milliseconds that a job stays locked without renewal; 120,000 by default. The leases of the sets last as long. */
  readonly lockMs?: number;
  /** Milliseconds between two looks for jobs whose machine is gone; 15,000 by default. */
  readonly stalledMs?: number;
  /** Milliseconds without a sign of life after which a host is killed; 60,000 by default. */
  readonly blockMs?: number;
  /** Milliseconds that running spiders get to end when the agent is stopped; 30,000 by default. */
  readonly graceMs?: number;
  /** Runs after which a host is replaced; 500 by default. */
  readonly hostRuns?: number;
  /** Megabytes after which a host is replaced as soon as it is empty; 1024 by default. */
  readonly hostMemoryMb?: number;
}

/** Milliseconds until a spider is tried again that found no place. */
const waitMs = 1000;
/** Crashes alone in a host after which a spider is given up. */
const maxLoneCrashes = 2;

/** The process of a spider ended under it. Code `ERR_FLEET_HOST`. */
export class FleetHostError extends LycosaError {
  constructor(message: string) {
    super('ERR_FLEET_HOST', message);
  }
}

interface Ended {
  readonly verdict: ReasonVerdict;
  readonly record: RunRecord;
}

/**
 * The one process of a machine that takes runs from the queue. It runs no code of spiders itself, so that nothing can
 * hold up the renewal of locks and leases: it starts host processes and tells them what to run.
 */
export class FleetAgent {
  readonly #fleet: Fleet;
  readonly #options: Required<FleetAgentOptions>;
  readonly #worker: Worker<FleetJob>;
  readonly #hosts = new Set<Host>();
  /** Runs with a lease to renew. */
  readonly #runs = new Map<number, Run>();
  readonly #timers: NodeJS.Timeout[] = [];
  #lastId = 0;
  #isStopping = false;
  #stopped: Promise<void> | undefined;

  /** Takes runs from the queue from now on. */
  constructor(fleet: Fleet, options: FleetAgentOptions) {
    this.#fleet = fleet;
    this.#options = {
      count: 20,
      hosts: 1,
      lockMs: 120_000,
      stalledMs: 15_000,
      blockMs: 60_000,
      graceMs: 30_000,
      hostRuns: 500,
      hostMemoryMb: 1024,
      ...options,
    };
    const { count, lockMs, stalledMs } = this.#options;
    this.#worker = new Worker<FleetJob>(
      queueName,
      async (job, token) => this.#process(job, token!),
      {
        connection: {
          ...clientOptions(fleet.options.redis),
          maxRetriesPerRequest: null,
        } as ConnectionOptions,
        prefix: queuePrefix(fleet.options.sets.prefix ?? ''),
        concurrency: count,
        lockDuration: lockMs,
        stalledInterval: stalledMs,
        // A machine that dies is no failure of the spider.
        maxStalledCount: 1000,
      },
    );
    this.#worker.on('error', (error) => {
      if (!this.#isStopping) this.#options.log.warn(`Queue: ${error.message}`);
    });
    this.#every(Math.min(lockMs / 5, 5000), () => this.#renew());
    this.#every(Math.min(1000, stalledMs), () => this.#announce());
    this.#every(Math.min(stalledMs, 30_000), async () => {
      const found = await fleet.reconcile(Math.min(stalledMs, 30_000));
      if (found > 0) options.log.info(`${found} names in pending had no job: taken as orders`);
    });
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Waits until the queue is empty and nothing runs anywhere, or the agent is stopped. */
  async untilEmpty(): Promise<void> {
    while (!this.#isStopping) {
      // What was put into `pending` by hand counts as well.
      await this.#fleet.reconcile(500);
      const isDrained = this.#runs.size === 0 && (await this.#fleet.queue.isPaused());
      if (isDrained || (await this.#isEmpty())) return;
      await sleep(500);
    }
  }

  async #isEmpty(): Promise<boolean> {
    const { sets } = this.#fleet;
    const names = (await sets.count('pending')) + (await sets.count('running'));
    return names === 0 && (await this.#fleet.live()) === 0;
  }

  /** Hands back what runs, which starts elsewhere from its beginning or its JOBDIR, and ends. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    for (const run of this.#runs.values())
      run.host.say({ type: 'stop', id: run.id, mode: 'graceful' });
    const fast = setTimeout(() => {
      for (const run of this.#runs.values())
        run.host.say({ type: 'stop', id: run.id, mode: 'fast' });
    }, this.#options.graceMs / 2);
    const force = setTimeout(() => {
      for (const host of this.#hosts) host.kill();
    }, this.#options.graceMs);
    await this.#worker.close();
    clearTimeout(fast);
    clearTimeout(force);
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([...this.#hosts].map((host) => host.exit()));
  }

  /** One job of the queue, from its claim to its commit. */
  async #process(job: Job<FleetJob>, lock: string): Promise<void> {
    const { member, generation } = job.data;
    const { sets } = this.#fleet;
    const claim = await sets.claim(member, { generation, start: job.attemptsStarted });
    // `done`: the machine before us committed and died before it could tell the queue.
    if (claim === 'done' || claim === 'old') return;
    if (typeof claim === 'string') {
      // The place of a machine that died is free when its lease ends, or a spider of that name was started by hand.
      await job.moveToDelayed(Date.now() + waitMs, lock);
      throw new DelayedError();
    }
    if (this.#isStopping) {
      await sets.release(claim, 'pending');
      return this.#handBack(job, lock);
    }
    let ended: Ended;
    try {
      ended = await this.#run(job.data, claim);
    } catch (error) {
      return this.#hostLost(job, lock, claim, error as Error);
    }
    await this.#commit(job, lock, claim, ended);
  }

  async #run(job: FleetJob, claim: Claim): Promise<Ended> {
    const isSuspect = (await this.#fleet.crashes(job.member)) > 0;
    const host = isSuspect ? this.#startHost(true) : this.#freeHost();
    const id = ++this.#lastId;
    this.#runs.set(id, { id, claim, host, isStopped: false });
    try {
      const { spider, args } = job;
      const ended = await host.run({ type: 'run', id, spider, args });
      const run = this.#runs.get(id)!;
      // A stop that was asked for is not the end of a machine.
      return run.isStopped && ended.record.reason === 'shutdown'
        ? { verdict: 'failed', record: { ...ended.record, reason: 'stopped' } }
        : ended;
    } finally {
      this.#runs.delete(id);
      if (host.isEmpty && (host.isAlone || host.isSpent)) void host.exit();
    }
  }

  /** @throws Error for a failure that the queue shall count and repeat. */
  async #commit(job: Job<FleetJob>, lock: string, claim: Claim, ended: Ended): Promise<void> {
    const { verdict, record: run } = ended;
    const { args, member } = job.data;
    const record = { ...run, ...(Object.keys(args).length > 0 && { args }) };
    if (verdict === 'none') return;
    const attempts = job.opts.attempts ?? 1;
    const mayRetry = verdict === 'retry' && job.attemptsMade + 1 < attempts;
    const to = verdict === 'retry' ? (mayRetry ? 'pending' : 'failed') : verdict;
    if (!(await this.#fleet.sets.release(claim, to, record))) {
      return this.#options.log.warn(`${member} ended here after a later run of it had begun.`);
    }
    if (to === 'finished') {
      await this.#fleet.learn(member, run.seconds);
      await this.#fleet.crashed(member, 0);
      return;
    }
    if (verdict === 'pending') return this.#handBack(job, lock);
    const message = run.error ?? run.reason;
    this.#options.log.warn(`${member} failed${mayRetry ? ' and is tried again' : ''}: ${message}`);
    throw mayRetry ? new Error(message) : new UnrecoverableError(message);
  }

  /** All spiders of a host that died start again at once. One that brings it down alone, and again, is given up. */
  async #hostLost(job: Job<FleetJob>, lock: string, claim: Claim, error: Error): Promise<void> {
    const { member, spider, args } = job.data;
    // The first time it may have been a neighbour; from then on it runs alone.
    const count = this.#isStopping ? 0 : await this.#fleet.crashed(member, 1);
    if (count <= maxLoneCrashes) {
      await this.#fleet.sets.release(claim, 'pending');
      return this.#handBack(job, lock);
    }
    const record = {
      spider,
      args,
      reason: 'crashed',
      ok: false,
      at: Date.now(),
      error: error.message,
    };
    await this.#fleet.sets.release(claim, 'failed', record);
    this.#options.log.error(`${member} ended its process ${count} times and is given up.`);
    throw new UnrecoverableError(error.message);
  }

  /** Back into the queue, without an attempt charged. */
  async #handBack(job: Job<FleetJob>, lock: string): Promise<never> {
    await job.moveToWait(lock);
    throw new WaitingError();
  }

  #freeHost(): Host {
    const open = [...this.#hosts].filter((host) => !host.isAlone && !host.isSpent);
    if (open.length < this.#options.hosts) return this.#startHost(false);
    return open.reduce((least, host) => (host.size < least.size ? host : least));
  }

  #startHost(isAlone: boolean): Host {
    const { host: config, hostRuns, hostMemoryMb } = this.#options;
    const host = new Host(config, { isAlone, maxRuns: hostRuns, maxMb: hostMemoryMb }, (why) => {
      this.#hosts.delete(host);
      if (why) this.#options.log.error(why);
    });
    this.#hosts.add(host);
    return host;
  }

  async #renew(): Promise<void> {
    for (const host of this.#hosts) host.check(this.#options.blockMs);
    await Promise.all(
      [...this.#runs.values()].map(async (run) => {
        const answer = await this.#fleet.sets.renew(run.claim);
        if (answer === undefined) return;
        run.isStopped = answer !== 'lost';
        run.host.say({ type: 'stop', id: run.id, mode: answer === 'lost' ? 'fast' : answer });
      }),
    );
  }

  async #announce(): Promise<void> {
    const { owner, leaseMs } = this.#fleet.sets;
    let rssMb = process.memoryUsage.rss() / 2 ** 20;
    for (const host of this.#hosts) rssMb += host.rssMb;
    await this.#fleet.announce(
      {
        id: owner,
        running: this.#runs.size,
        count: this.#options.count,
        hosts: this.#hosts.size,
        rssMb: Math.round(rssMb),
        at: Date.now(),
      },
      leaseMs / 1000,
    );
  }

  /** Repeats work whose failure means that Redis is away: the next time may do. */
  #every(ms: number, work: () => Promise<void>): void {
    let isBusy = false;
    const timer = setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      work()
        .catch((error: Error) => this.#options.log.warn(`Redis: ${error.message}`))
        .finally(() => {
          isBusy = false;
        });
    }, ms);
    this.#timers.push(timer);
  }
}

interface Run {
  readonly id: number;
  readonly claim: Claim;
  readonly host: Host;
  isStopped: boolean;
}

interface HostLimits {
  readonly isAlone: boolean;
  readonly maxRuns: number;
  readonly maxMb: number;
}

interface Waiter {
  resolve(ended: Ended): void;
  reject(error: Error): void;
}

/** A child process with spiders. */
class Host {
  readonly isAlone: boolean;
  rssMb = 0;
  readonly #child: ChildProcess;
  readonly #limits: HostLimits;
  readonly #waiters = new Map<number, Waiter>();
  readonly #gone: Promise<void>;
  #runs = 0;
  #lastBeat = performance.now();
  #isLeaving = false;

  /** @param onGone - Told why, where it was not asked to go. */
  constructor(config: HostConfig, limits: HostLimits, onGone: (why?: string) => void) {
    this.isAlone = limits.isAlone;
    this.#limits = limits;
    this.#child = fork(hostFile(), [], {
      cwd: config.root,
      env: { ...process.env, LYCOSA_FLEET_HOST: JSON.stringify(config) },
      // stdout is for people who pipe what the agent prints.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromHost) => this.#hear(message));
    this.#child.on('error', () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    this.#child.once('exit', (code, signal) => {
      const how = signal ? `by ${signal}` : `with code ${code}`;
      const why = `A host process ended ${how} under ${this.#waiters.size} spiders`;
      onGone(this.#isLeaving && this.#waiters.size === 0 ? undefined : why);
      this.#isLeaving = true;
      for (const { reject } of this.#waiters.values()) reject(new FleetHostError(why));
      this.#waiters.clear();
      resolve();
    });
  }

  get size(): number {
    return this.#waiters.size;
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  /** True if nothing further shall begin in it. */
  get isSpent(): boolean {
    const { maxRuns, maxMb } = this.#limits;
    return this.#isLeaving || this.#runs >= maxRuns || this.rssMb > maxMb;
  }

  /** Rejects with a FleetHostError when the process ends first. */
  run(message: Extract<ToHost, { type: 'run' }>): Promise<Ended> {
    this.#runs++;
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return reject(new FleetHostError('The host process has ended'));
      this.#waiters.set(message.id, { resolve, reject });
      this.say(message);
    });
  }

  say(message: ToHost): void {
    // One that cannot hear has ended, or will in a moment; `exit` says so.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Kills a host that gives no sign of life: a callback of its holds all the others. */
  check(blockMs: number): void {
    if (performance.now() - this.#lastBeat > blockMs) this.kill();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async exit(): Promise<void> {
    this.#isLeaving = true;
    this.say({ type: 'exit' });
    const timer = setTimeout(() => this.kill(), 5000);
    await this.#gone;
    clearTimeout(timer);
  }

  #hear(message: FromHost): void {
    this.#lastBeat = performance.now();
    if (message.type === 'beat') {
      this.rssMb = message.rssMb;
      return;
    }
    this.#waiters.get(message.id)?.resolve(message);
    this.#waiters.delete(message.id);
  }
}

/** Beside this file, in the sources and in the build. */
function hostFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`./fleet-host.${extension}`, import.meta.url));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
