import { resolve } from 'node:path';

import {
  type ConnectionOptions,
  DelayedError,
  type Job,
  UnrecoverableError,
  WaitingError,
  Worker,
} from 'bullmq';
import type { RootLogger } from 'lycosa';

import { clientOptions } from './connection.ts';
import { type GateReason, ResourceGate } from './fleet-gate.ts';
import type { Ended, HostProcess } from './fleet-host-process.ts';
import { HostPool } from './fleet-hosts.ts';
import type { FleetProgress } from './fleet-jobs.ts';
import { RunLedger } from './fleet-ledger.ts';
import { MachineLoad } from './fleet-load.ts';
import { readManifest } from './fleet-manifest.ts';
import type { HostConfig } from './fleet-messages.ts';
import { queueName, queuePrefix } from './fleet-settings.ts';
import type { Fleet, QueuedRun } from './fleet.ts';
import type { Claim } from './spider-sets.ts';

export interface FleetAgentOptions {
  readonly host: HostConfig;
  readonly log: Pick<RootLogger, 'info' | 'warn' | 'error'>;
  /** Where the project has its spiders; `./spiders` by default. */
  readonly spiders?: string | readonly string[];
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
  /** Megabytes that must be free for a further spider; 256 by default, 0 is no limit. */
  readonly minFreeMb?: number;
  /** Milliseconds that an event loop may be late for a further spider; 1000 by default, 0 is no limit. */
  readonly maxLagMs?: number;
  /** Folder for logs and for what Redis could not be told; `.lycosa/fleet` of the project by default. */
  readonly dir?: string;
  /** Last log lines of a run that are kept in Redis; 200 by default. */
  readonly logLines?: number;
  /** The version of the project; orders that want another one are left to others. */
  readonly version?: string | undefined;
}

/** Milliseconds until a spider is tried again that found no place. */
const waitMs = 1000;
/** The same, for one that wants a machine with another version of the project. */
const versionMs = 5000;
/** Milliseconds after which one whose group is full looks for itself; earlier, whoever ends calls it. */
const asideMs = 30_000;
/** Crashes in company, which may be a neighbour's doing: from then on a spider runs alone in its host. */
const maxSharedCrashes = 2;
/** Crashes after which a spider is given up: the last two were its own. */
const maxCrashes = 4;

/**
 * The one process of a machine that takes runs from the queue. It runs no code of spiders itself, so that nothing can
 * hold up the renewal of locks and leases: it starts host processes and tells them what to run.
 */
export class FleetAgent {
  readonly #fleet: Fleet;
  readonly #options: Required<Omit<FleetAgentOptions, 'version'>> &
    Pick<FleetAgentOptions, 'version'>;
  readonly #worker: Worker<QueuedRun>;
  readonly #cron: Pick<Worker, 'close'>;
  readonly #hosts: HostPool;
  readonly #ledger: RunLedger;
  readonly #gate: ResourceGate;
  readonly #load = new MachineLoad();
  readonly #since = Date.now();
  /** Runs with a lease to renew. */
  readonly #runs = new Map<number, Run>();
  readonly #timers: NodeJS.Timeout[] = [];
  #manifest: Promise<Map<string, string>> | undefined;
  #lastId = 0;
  #isStopping = false;
  #stopped: Promise<void> | undefined;
  #closedBy: GateReason | undefined;

  /** Takes runs from the queue from now on. */
  constructor(fleet: Fleet, options: FleetAgentOptions) {
    this.#fleet = fleet;
    this.#options = {
      spiders: './spiders',
      count: 20,
      hosts: 1,
      lockMs: 120_000,
      stalledMs: 15_000,
      blockMs: 60_000,
      graceMs: 30_000,
      hostRuns: 500,
      hostMemoryMb: 1024,
      minFreeMb: 256,
      maxLagMs: 1000,
      dir: '.lycosa/fleet',
      logLines: 200,
      ...options,
    };
    const { count, lockMs, stalledMs, host, hosts, hostRuns, hostMemoryMb } = this.#options;
    const { dir, logLines, log } = this.#options;
    this.#ledger = new RunLedger(fleet, {
      folder: resolve(host.root, dir, 'journal'),
      leaseMs: lockMs,
      log,
      here: () => [...this.#runs.values()].map(({ claim }) => claim),
    });
    this.#gate = new ResourceGate(this.#options.minFreeMb, this.#options.maxLagMs);
    this.#hosts = new HostPool(
      {
        // Logs are where the agent says.
        config: {
          ...host,
          settings: { FLEET_DIR: dir, FLEET_LOG_LINES: logLines, ...host.settings },
        },
        hosts,
        maxRuns: hostRuns,
        maxMb: hostMemoryMb,
        cache: resolve(host.root, dir, 'cache'),
      },
      {
        gone: (why) => why && log.error(why),
        holds: (id) => this.#holds(id),
        log: (id, lines) => this.#keepLog(id, lines),
      },
    );
    this.#worker = new Worker<QueuedRun>(
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
        autorun: false,
      },
    );
    this.#worker.on('error', (error) => {
      if (!this.#isStopping) log.warn(`Queue: ${error.message}`);
    });
    this.#cron = fleet.work();
    this.#every(Math.min(1000, stalledMs), () => this.#ledger.follow());
    this.#every(Math.min(lockMs / 5, 5000), () => this.#renew());
    this.#every(Math.min(1000, stalledMs), () => this.#announce());
    // A machine that is drained begins nothing, not even at first.
    void this.#announce()
      .catch((error: Error) => log.warn(`Redis: ${error.message}`))
      .then(() => this.#begin());
    this.#every(2000, () => this.#report());
    this.#every(Math.min(stalledMs, 30_000), () => this.#reconcile());
  }

  async #begin(): Promise<void> {
    if (this.#isStopping || this.#closedBy !== undefined) return;
    await this.#worker.run().catch((error: Error) => this.#options.log.warn(error.message));
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Waits until the queue is empty and nothing runs anywhere, or the agent is stopped. */
  async untilEmpty(): Promise<void> {
    while (!this.#isStopping) {
      try {
        // What was put into `pending` by hand counts as well.
        await this.#fleet.reconcile(500);
        const isDrained = this.#runs.size === 0 && (await this.#fleet.queue.isPaused());
        if (isDrained || (await this.#isEmpty())) return;
      } catch (error) {
        this.#options.log.warn(`Redis: ${(error as Error).message}`);
      }
      await sleep(500);
    }
  }

  async #isEmpty(): Promise<boolean> {
    const { sets } = this.#fleet;
    const restarts = await this.#ledger.restarts();
    const names = (await sets.count('pending')) + (await sets.count('running'));
    if (names > 0 || (await this.#fleet.live()) > 0) return false;
    // A server that was started anew with nothing knows of no work either, before it is told.
    return (await this.#ledger.restarts()) === restarts;
  }

  /** Hands back what runs, which starts elsewhere from its beginning or its JOBDIR, and ends. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#ledger.close();
    const stopAll = (mode: 'graceful' | 'fast'): void => {
      for (const run of this.#runs.values()) run.host.say({ type: 'stop', id: run.id, mode });
    };
    stopAll('graceful');
    const fast = setTimeout(() => stopAll('fast'), this.#options.graceMs / 2);
    const force = setTimeout(() => this.#hosts.kill(), this.#options.graceMs);
    await this.#worker.close();
    await this.#cron.close();
    clearTimeout(fast);
    clearTimeout(force);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#hosts.exit();
    await this.#fleet.machines.leave(this.#fleet.sets.owner).catch(() => {});
  }

  /** One job of the queue, from its claim to its commit. */
  async #process(job: Job<QueuedRun>, lock: string): Promise<void> {
    const { member, generation, group, version } = job.data;
    const { sets } = this.#fleet;
    if (version !== undefined && version !== this.#options.version) {
      return this.#later(job, lock, Math.min(versionMs, this.#options.stalledMs));
    }
    const claim = await sets.claim(member, { generation, start: job.attemptsStarted }, group);
    // `done`: the machine before us committed and died before it could tell the queue.
    if (claim === 'done' || claim === 'old') return;
    if (claim === 'group') {
      await this.#fleet.setAside(group!, member, job.priority);
      return this.#later(job, lock, asideMs);
    }
    // The place of a machine that died is free when its lease ends, or a spider of that name was started by hand.
    if (typeof claim === 'string') return this.#later(job, lock, waitMs);
    if (this.#isStopping) {
      await this.#ledger.release(claim, 'pending');
      return this.#handBack(job, lock);
    }
    try {
      const ended = await this.#run(job.data, claim).catch((error: Error) => error);
      if (ended instanceof Error) await this.#hostLost(job, lock, claim, ended);
      else await this.#commit(job, lock, claim, ended);
    } finally {
      // The next of the group looks for itself in a while, should this fail.
      if (group !== undefined) await this.#fleet.promote(group).catch(() => {});
    }
  }

  async #run(job: QueuedRun, claim: Claim): Promise<Ended> {
    const { spider, args, member } = job;
    const id = ++this.#lastId;
    const [file, crashes] = await Promise.all([
      this.#fileOf(spider),
      this.#fleet.crashes(member).catch(() => 0),
    ]);
    const host = crashes >= maxSharedCrashes ? this.#hosts.alone() : this.#hosts.free();
    const run: Run = {
      id,
      claim,
      host,
      isStopped: false,
      isRefused: false,
      renewedAt: performance.now(),
    };
    this.#runs.set(id, run);
    try {
      const ended = await host.run({
        type: 'run',
        id,
        job: member,
        attempt: claim.attempt,
        token: claim.token,
        spider,
        args,
        ...(file !== undefined && { file }),
      });
      this.#gate.ended(spider, ended.record.reason !== 'bootstrap_failed');
      if (run.isRefused && ended.verdict === 'finished') return { ...ended, verdict: 'pending' };
      // A stop that was asked for is not the end of a machine.
      return run.isStopped && ended.record.reason === 'shutdown'
        ? { verdict: 'failed', record: { ...ended.record, reason: 'stopped' } }
        : ended;
    } finally {
      this.#runs.delete(id);
      this.#hosts.left(host);
    }
  }

  /** The file of a spider, as its text says; new ones are looked for. */
  async #fileOf(spider: string): Promise<string | undefined> {
    const { host, spiders } = this.#options;
    const known = await this.#manifest;
    if (known?.has(spider)) return known.get(spider);
    this.#manifest = readManifest(host.root, spiders);
    return (await this.#manifest).get(spider);
  }

  /** @throws Error for a failure that the queue shall count and repeat. */
  async #commit(job: Job<QueuedRun>, lock: string, claim: Claim, ended: Ended): Promise<void> {
    const { verdict, record: run } = ended;
    const { args, member } = job.data;
    const record = { ...run, ...(Object.keys(args).length > 0 && { args }) };
    if (verdict === 'none') return;
    const attempts = job.opts.attempts ?? 1;
    const mayRetry = verdict === 'retry' && job.attemptsMade + 1 < attempts;
    const to = verdict === 'retry' ? (mayRetry ? 'pending' : 'failed') : verdict;
    if (!(await this.#ledger.release(claim, to, record))) {
      return this.#options.log.warn(`${member} ended here after a later run of it had begun.`);
    }
    if (to === 'finished') {
      await Promise.all([this.#fleet.learn(member, run.seconds), this.#fleet.crashed(member, 0)]);
      return;
    }
    if (verdict === 'pending') return this.#handBack(job, lock);
    const message = run.error ?? run.reason;
    this.#options.log.warn(`${member} failed${mayRetry ? ' and is tried again' : ''}: ${message}`);
    throw mayRetry ? new Error(message) : new UnrecoverableError(message);
  }

  /** All spiders of a host that died start again at once. One that brings it down alone, and again, is given up. */
  async #hostLost(job: Job<QueuedRun>, lock: string, claim: Claim, error: Error): Promise<void> {
    const { member, spider, args } = job.data;
    const count = this.#isStopping ? 0 : await this.#fleet.crashed(member, 1).catch(() => 1);
    const record = {
      spider,
      args,
      reason: this.#isStopping ? 'shutdown' : 'crashed',
      ok: false,
      at: Date.now(),
      error: error.message,
    };
    if (count < maxCrashes) {
      await this.#ledger.release(claim, 'pending', record);
      return this.#handBack(job, lock);
    }
    await this.#ledger.release(claim, 'failed', record);
    this.#options.log.error(`${member} ended its process ${count} times and is given up.`);
    throw new UnrecoverableError(error.message);
  }

  /** Back into the queue, without an attempt charged. */
  async #handBack(job: Job<QueuedRun>, lock: string): Promise<never> {
    await job.moveToWait(lock);
    throw new WaitingError();
  }

  async #later(job: Job<QueuedRun>, lock: string, ms: number): Promise<never> {
    await job.moveToDelayed(Date.now() + ms, lock);
    throw new DelayedError();
  }

  async #renew(): Promise<void> {
    this.#hosts.check(this.#options.blockMs);
    await Promise.all(
      [...this.#runs.values()].map(async (run) => {
        const asked = performance.now();
        const answer = await this.#ledger.renew(run.claim);
        if (answer !== 'lost') run.renewedAt = asked;
        if (answer === undefined) return;
        run.isStopped = answer !== 'lost';
        run.host.say({ type: 'stop', id: run.id, mode: answer, isForGood: run.isStopped });
      }),
    );
  }

  /** Whether a run may put its feeds in place. */
  async #holds(id: number): Promise<boolean> {
    const run = this.#runs.get(id);
    if (run === undefined) return false;
    const holds = await this.#ledger.holds(run.claim, () => run.renewedAt);
    run.isRefused = !holds;
    return holds;
  }

  #keepLog(id: number, lines: readonly string[]): void {
    const { logLines } = this.#options;
    const claim = this.#runs.get(id)?.claim;
    if (claim === undefined || logLines === 0) return;
    // A line less is no harm.
    void this.#fleet.records.appendLog(claim.name, claim.attempt, lines, logLines).catch(() => {});
  }

  async #announce(): Promise<void> {
    const { sets, machines } = this.#fleet;
    const { count, lockMs, version } = this.#options;
    const { freeMb, totalMb } = this.#load;
    const { lagMs, size, rssMb } = this.#hosts;
    this.#openGate(this.#gate.reason(freeMb, lagMs, await machines.isDrained(sets.machine)));
    await machines.announce(
      {
        id: sets.owner,
        running: this.#runs.size,
        count,
        hosts: size,
        rssMb: Math.round(rssMb + process.memoryUsage.rss() / 2 ** 20),
        freeMb,
        totalMb,
        cpu: this.#load.cpu(),
        lagMs,
        ...(this.#closedBy && { closedBy: this.#closedBy }),
        ...(version !== undefined && { version }),
        since: this.#since,
        at: Date.now(),
      },
      lockMs / 1000,
    );
  }

  #openGate(reason: GateReason | undefined): void {
    if (reason === this.#closedBy || this.#isStopping) return;
    const { log } = this.#options;
    log.info(reason ? `No further spider begins here: ${reason}` : 'Spiders begin here again');
    if (reason !== undefined && this.#closedBy === undefined) void this.#worker.pause(true);
    if (reason === undefined) void this.#worker.resume();
    this.#closedBy = reason;
  }

  async #report(): Promise<void> {
    const progress = this.#hosts.progress;
    const runs: Record<string, FleetProgress> = {};
    for (const { id, claim } of this.#runs.values()) {
      const one = progress.get(id);
      if (one) runs[claim.name] = one;
    }
    await this.#fleet.records.report(
      this.#fleet.sets.owner,
      { slots: this.#hosts.slots, runs },
      15,
    );
  }

  async #reconcile(): Promise<void> {
    const { log, stalledMs } = this.#options;
    const told = await this.#ledger.replay();
    if (told > 0) log.info(`${told} ends of runs, written down earlier, were told to Redis`);
    const found = await this.#fleet.reconcile(Math.min(stalledMs, 30_000));
    if (found > 0) log.info(`${found} names in pending had no job: taken as orders`);
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
  readonly host: HostProcess;
  isStopped: boolean;
  /** True if its feeds were not put in place: it has not finished then, whatever it says. */
  isRefused: boolean;
  /** When Redis was last asked for more time and gave it. */
  renewedAt: number;
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}
