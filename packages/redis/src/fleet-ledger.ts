import type { RootLogger } from 'lycosa';

import { type JournalEntry, RunJournal } from './fleet-journal.ts';
import type { FleetMirror } from './fleet-mirror.ts';
import type { Fleet } from './fleet.ts';
import type { Claim, SpiderTarget } from './spider-sets.ts';

/** Milliseconds after which Redis has written to disk what it was told. */
const recentMs = 60_000;
/** Milliseconds that Redis gets for an answer where there is another way. */
const answerMs = 2000;
/** Milliseconds between two tries to tell Redis how a run ended. */
const retellMs = 500;

/** @internal */
export interface RunLedgerOptions {
  /** Folder for what Redis could not be told. */
  readonly folder: string;
  /** How long a lease lasts. */
  readonly leaseMs: number;
  readonly log: Pick<RootLogger, 'warn'>;
  /** What runs here. */
  readonly here: () => readonly Claim[];
}

/** @internal What an agent tells Redis of its runs, and asks it, though Redis may be away, stand still or lose its memory. */
export class RunLedger {
  readonly #fleet: Fleet;
  readonly #options: RunLedgerOptions;
  readonly #journal: RunJournal;
  readonly #mirror: FleetMirror;
  /** Ends of runs that Redis has heard, but may lose if it is killed now. */
  #recent: (readonly [at: number, entry: JournalEntry])[] = [];
  #following: Promise<void> | undefined;
  #restarts = 0;
  #isClosing = false;

  constructor(fleet: Fleet, options: RunLedgerOptions) {
    this.#fleet = fleet;
    this.#options = options;
    this.#journal = new RunJournal(options.folder);
    this.#mirror = fleet.mirror();
  }

  /**
   * Tells Redis of the end of a run, however long it takes: it is written down until it was heard.
   *
   * @returns False if a later run has begun.
   * @throws Error once it is closing and has written it down.
   */
  async release(claim: Claim, to: SpiderTarget, record?: object): Promise<boolean> {
    const { sets } = this.#fleet;
    const entry: JournalEntry = { owner: sets.owner, claim, to, ...(record && { record }) };
    let isWritten = false;
    // One that stands still gives no answer at all.
    const patience = setTimeout(() => {
      isWritten = true;
      this.#journal.add(entry);
      this.#options.log.warn(
        `How ${claim.name} ended cannot be told to Redis, and is written down`,
      );
    }, answerMs);
    try {
      for (;;) {
        try {
          const isOurs = await this.#sure(() => sets.release(claim, to, record));
          if (isWritten) this.#journal.remove(entry);
          this.#remember(entry);
          return isOurs;
        } catch (error) {
          // The next agent on this machine tells it.
          if (this.#isClosing && isWritten) throw error;
          await sleep(retellMs);
        }
      }
    } finally {
      clearTimeout(patience);
    }
  }

  /** As `SpiderSets.renew`. */
  async renew(claim: Claim): ReturnType<Fleet['sets']['renew']> {
    const answer = await this.#fleet.sets.renew(claim);
    if (answer !== 'lost') return answer;
    await this.follow();
    return this.#fleet.sets.renew(claim);
  }

  /**
   * Whether a run is still the latest of its job. Without Redis it is, as long as nobody else can have been given the job.
   *
   * @param renewedAt - When Redis was last asked for more time and gave it.
   */
  async holds(claim: Claim, renewedAt: () => number): Promise<boolean> {
    for (;;) {
      try {
        return await inTime(this.#sure(() => this.#fleet.sets.holds(claim)));
      } catch {
        if (performance.now() - renewedAt() < this.#options.leaseMs * 0.8) return true;
        await sleep(retellMs);
      }
    }
  }

  /** Learns what is new, and tells a server that was killed what it may have lost: its last words, or everything. */
  follow(): Promise<void> {
    return (this.#following ??= this.#follow().finally(() => {
      this.#following = undefined;
    }));
  }

  /** How often the server has lost its memory up to now, and has it back. */
  async restarts(): Promise<number> {
    // A look that is under way may have begun earlier.
    await this.#following;
    await this.follow();
    return this.#restarts;
  }

  /** Tells what an earlier agent of this machine could not tell; returns how many ends counted. */
  async replay(): Promise<number> {
    if (this.#journal.entries().length === 0) return 0;
    await this.follow();
    return this.#journal.replay(this.#fleet.sets);
  }

  /** From now on what cannot be told is left to the next agent. */
  close(): void {
    this.#isClosing = true;
  }

  #remember(entry: JournalEntry): void {
    const now = performance.now();
    this.#recent = this.#recent.filter(([at]) => now - at < recentMs);
    this.#recent.push([now, entry]);
  }

  /** A no may come from a server that has lost its memory: it is told again, and asked again. */
  async #sure(ask: () => Promise<boolean>): Promise<boolean> {
    if (await ask()) return true;
    await this.follow();
    return ask();
  }

  async #follow(): Promise<void> {
    if ((await this.#mirror.follow()) !== 'restarted') return;
    this.#restarts++;
    // Where it remembers the run, it hears the whole of its end. Where not, it hears from us what we know better than others.
    for (const [, { claim, to, record, owner }] of this.#recent)
      await this.#fleet.sets.release(claim, to, record, owner);
    const ended = this.#recent
      .filter(([at]) => at >= this.#mirror.readAt)
      .map(([, entry]) => ({ ...entry, state: entry.to }));
    const running = this.#options.here().map((claim) => ({ claim, state: 'running' as const }));
    const count = await this.#mirror.restore([...ended, ...running]);
    if (this.#mirror.fleetLimit > 0) await this.#fleet.limit(this.#mirror.fleetLimit);
    this.#options.log.warn(
      `Redis was started anew; ${count} names that it had lost were restored.`,
    );
  }
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  return Promise.race([promise, sleep(answerMs).then(() => Promise.reject(new Error('late')))]);
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}
