import { type Request, toError } from 'lycosa';

import { readEntry } from './frontier-entry.ts';
import type { FrontierWorker } from './frontier-worker.ts';
import type { Claimed } from './frontier.ts';

/** Most requests leased in one go. */
const maxBatch = 100;
/** Milliseconds between two looks into a frontier that has nothing for us now; it doubles from one to the other. */
const pollMs = [20, 500] as const;

/** Takes requests out of the frontier as there is room for them, and finds out when there will be none any more. */
export class Claims {
  readonly #worker: FrontierWorker;
  readonly #concurrency: number;
  readonly #onReady: () => void;
  #asking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #emptyPolls = 0;
  /** Since when nothing waits and nothing is leased anywhere. */
  #overSince: number | undefined;
  /** Requests on their way into the frontier. */
  #coming = 0;
  #named = 0;
  #asideCount = 0;
  #isStopped = false;
  /** The answer to a claim may be lost. */
  #isDoubtful = false;

  /** @param onReady - There may be something, or nothing any more. */
  constructor(worker: FrontierWorker, onReady: () => void) {
    this.#worker = worker;
    this.#concurrency = worker.host.settings.get('CONCURRENT_REQUESTS') || Infinity;
    this.#onReady = onReady;
  }

  /** True when nothing waited and nothing was leased anywhere for as long as the settings say. */
  get isOver(): boolean {
    const since = this.#overSince;
    return since !== undefined && performance.now() - since >= this.#worker.settings.idleMs;
  }

  /** Runs what puts requests into the frontier: until its end it is not over. */
  async during<T>(adding: () => Promise<T>): Promise<T> {
    this.#coming++;
    this.#overSince = undefined;
    try {
      return await adding();
    } finally {
      this.#coming--;
    }
  }

  /** The connection was lost: what is leased to us and not known here goes back before the next claim. */
  connectionLost(): void {
    this.#isDoubtful = true;
  }

  /** Looks for work, unless it is known when there will be some. */
  ask(): void {
    if (this.#timer !== undefined || this.#asking !== undefined || this.#isStopped) return;
    const room = this.#concurrency - this.#worker.leases.size;
    if (room <= 0) return;
    this.#asking = this.#ask(Math.min(room, maxBatch)).then(
      () => {
        this.#asking = undefined;
        this.#onReady();
      },
      (thrown: unknown) => {
        this.#asking = undefined;
        this.#worker.fail(thrown);
      },
    );
  }

  /** Something has changed: looks at once if there is anything due, or nothing at all any more. */
  changed(): void {
    const { dueMs, hasWork, leases } = this.#worker.frontier;
    if (this.#isStopped) return;
    this.#emptyPolls = 0;
    if (this.#timer !== undefined && dueMs !== 0 && (hasWork || leases > 0)) return this.#later();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#onReady();
  }

  /** It is over, whatever the frontier says. */
  end(): void {
    this.stop();
    this.#overSince = -Infinity;
    this.#onReady();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Resolves when the answer is in that is waited for. */
  async settled(): Promise<void> {
    await this.#asking;
  }

  async #ask(most: number): Promise<void> {
    const { frontier, leases } = this.#worker;
    if (this.#isDoubtful) {
      this.#isDoubtful = false;
      await frontier.holdOnly(Array.from(leases.all(), ({ token }) => token));
    }
    const askedAt = performance.now();
    const { claimed, buried } = await frontier.claim(most);
    if (buried > 0) this.#setAside('too long, or not in the place of one', buried);
    await this.#learnHosts();
    for (const entry of claimed) await this.#take(entry, askedAt);
    if (frontier.leases > 0 || frontier.hasWork || leases.size > 0 || this.#coming > 0)
      this.#overSince = undefined;
    else this.#overSince ??= performance.now();
    if (claimed.length > 0) this.#emptyPolls = 0;
    else this.#later();
  }

  /** Which hosts `start()` has named, here or elsewhere: they may be inside addresses. */
  async #learnHosts(): Promise<void> {
    const { frontier, host } = this.#worker;
    if (frontier.namedCount === this.#named) return;
    this.#named = frontier.namedCount;
    for (const name of await frontier.namedHosts()) host.startHosts.add(name);
  }

  async #take({ token, host, delayMs, text }: Claimed, askedAt: number): Promise<void> {
    const { frontier, hosts, leases, settings } = this.#worker;
    const { slots, spider } = this.#worker.host;
    let request: Request;
    try {
      request = readEntry(text, spider);
    } catch (thrown) {
      const { message } = toError(thrown);
      this.#setAside(message, 1);
      return frontier.bury(token, message);
    }
    // By address the slot is known only when the name is.
    await slots.resolve(request);
    if (delayMs !== undefined) hosts.learn(slots.keyOf(request), delayMs);
    leases.add({ token, host, request, links: [], until: askedAt + settings.leaseMs });
  }

  #setAside(reason: string, count: number): void {
    const { settings, host } = this.#worker;
    const { stats, log } = host;
    stats.inc('scheduler/set_aside', count);
    // The rest are most likely the same mistake; the list dead has them all.
    log[this.#asideCount++ === 0 ? 'warn' : 'debug'](
      `${count} entries of the frontier ${settings.name} were set aside: ${reason}`,
    );
  }

  #later(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const { dueMs } = this.#worker.frontier;
    const idle = Math.min(pollMs[0] * 2 ** this.#emptyPolls++, pollMs[1]);
    const wait = Math.min(dueMs === undefined ? idle : Math.max(dueMs, 1), pollMs[1]);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#onReady();
      },
      // A little apart from one another, so that not all workers come in the same millisecond.
      wait + Math.random() * Math.min(wait / 2, 10),
    );
  }
}
