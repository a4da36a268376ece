import { fingerprint } from '../http/fingerprint.js';
import { FingerprintSet } from './dupe-filter.js';
import { Heap } from './heap.js';
import { compareRanks } from './job.js';
import { ReadyQueue } from './ready-queue.js';
/** Entries of a slot held in memory; the rest is read from the file when they are used up. */
const windowSize = 1000;
/** Milliseconds from a write to its commit: writes of this time share one transaction. */
const commitInterval = 100;
/** A scheduler over the file of a job: memory is bounded, and `kill -9` loses nothing. */
export class JobScheduler {
  #job;
  #options;
  #queue;
  #seen = new FingerprintSet();
  #started = new FingerprintSet();
  #leased = new Map();
  #waiting = new Heap((a, b) => a.request.notBefore - b.request.notBefore);
  #wasResumed;
  /** Entries that are in the file but not to be read from it: leased, waiting, or done and not committed yet. */
  #taken = new Set();
  #doneIds = [];
  #timer;
  #committing;
  constructor(options) {
    this.#options = options;
    const { job } = options;
    this.#job = job;
    this.#queue = new ReadyQueue((key) => new JobStore(job, key, 0, this.#taken), options.onReady);
    this.#wasResumed = job.isResumed;
  }
  open() {
    for (const print of this.#job.seen('seen')) this.#seen.add(print);
    for (const print of this.#job.seen('started')) this.#started.add(print);
    let pending = 0;
    for (const { slot, count } of this.#job.slots()) {
      this.#queue.adopt(slot, new JobStore(this.#job, slot, count, this.#taken), count);
      pending += count;
    }
    this.#job.set('runs', Number(this.#job.get('runs') ?? 0) + 1);
    if (this.#wasResumed) {
      this.#options.log.info(
        `Resuming the job in ${this.#job.folder}: ${pending} requests pending, ${this.#seen.size} seen`,
      );
    }
    this.#job.commit();
  }
  enqueue(request) {
    const { stats } = this.#options;
    const isStart =
      request.meta.isStartRequest === true &&
      !('retryTimes' in request.meta) &&
      !('redirectTimes' in request.meta);
    let print;
    if (!request.dontFilter || isStart) {
      print = fingerprint(request);
      // start() runs anew on each run of the job; what it had asked for before is in the queue or done.
      const isKnown = isStart ? this.#knowsStart(print) : false;
      const isSeen = !this.#seen.add(print) && !request.dontFilter;
      if (isKnown || isSeen) {
        stats.inc('dupefilter/filtered');
        return false;
      }
    }
    const key = this.#options.slots.keyOf(request);
    const rank = (id) => [
      -request.priority,
      request.meta.isStartRequest ? 1 : 0,
      request.meta.isStartRequest || this.#options.order === 'fifo' ? id : -id,
    ];
    this.#push(this.#job.add(key, rank, request, print));
    this.#changed();
    stats.inc('scheduler/enqueued');
    stats.inc('scheduler/enqueued/disk');
    return true;
  }
  next(slots) {
    const now = Date.now();
    for (
      let entry = this.#waiting.peek();
      entry && entry.request.notBefore <= now;
      entry = this.#waiting.peek()
    ) {
      this.#waiting.pop();
      this.#push(entry);
    }
    for (;;) {
      const entry = this.#queue.pop(slots);
      if (entry === undefined) return undefined;
      if (entry.request.notBefore !== undefined && entry.request.notBefore > now) {
        // Read back from the file: it still has to wait.
        slots.unreserve(slots.keyOf(entry.request));
        this.#wait(entry);
        continue;
      }
      this.#taken.add(entry.id);
      this.#leased.set(entry.request, entry);
      this.#options.stats.inc('scheduler/dequeued');
      this.#options.stats.inc('scheduler/dequeued/disk');
      return entry.request;
    }
  }
  done(request) {
    const entry = this.#leased.get(request);
    if (entry === undefined) return;
    this.#leased.delete(request);
    this.#doneIds.push(entry.id);
    this.#changed();
  }
  release(request) {
    const entry = this.#leased.get(request);
    if (entry === undefined) return;
    this.#leased.delete(request);
    this.#push(entry);
  }
  get pending() {
    return this.#queue.size + this.#waiting.size;
  }
  get leased() {
    return this.#leased.size;
  }
  get nextDue() {
    return this.#waiting.peek()?.request.notBefore;
  }
  /** Makes sure of everything so far. */
  async commit() {
    while (this.#committing) await this.#committing;
    this.#committing = this.#commit();
    try {
      await this.#committing;
    } finally {
      this.#committing = undefined;
    }
  }
  async close() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.commit();
    this.#queue.clear(this.#options.slots);
    this.#waiting.clear();
    this.#job.close();
  }
  #knowsStart(print) {
    if (!this.#started.add(print)) return this.#wasResumed;
    this.#job.markStarted(print);
    return false;
  }
  #push(entry) {
    const { request } = entry;
    if (request.notBefore !== undefined && request.notBefore > Date.now()) return this.#wait(entry);
    this.#taken.delete(entry.id);
    this.#queue.push(entry, this.#options.slots.keyOf(request));
  }
  #wait(entry) {
    this.#taken.add(entry.id);
    this.#waiting.push(entry);
  }
  #changed() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.commit().catch(this.#options.onError);
    }, commitInterval);
  }
  async #commit() {
    // Those that are done by now are forgotten only when what they yielded is safe.
    const ids = this.#doneIds;
    this.#doneIds = [];
    await this.#options.beforeCommit();
    for (const id of ids) this.#job.remove(id);
    this.#job.commit();
    for (const id of ids) this.#taken.delete(id);
  }
}
/** The pending requests of one slot in the file, the best of them in memory. */
class JobStore {
  #job;
  #key;
  #taken;
  #window = new Heap((a, b) => compareRanks(a.rank, b.rank));
  /** Entries of the file beyond the window. */
  #beyond;
  /** The worst rank that is in memory for certain; entries behind it are only in the file. */
  #edge;
  constructor(job, key, stored, taken) {
    this.#job = job;
    this.#key = key;
    this.#taken = taken;
    this.#beyond = stored;
    if (stored > 0) this.#fill();
  }
  get top() {
    const best = this.#window.peek();
    return best === undefined ? -Infinity : -best.rank[0];
  }
  push(entry) {
    if (this.#beyond > 0 && this.#edge && compareRanks(entry.rank, this.#edge) > 0) {
      this.#beyond++;
      return;
    }
    this.#window.push(entry);
    if (this.#window.size > 2 * windowSize) this.#spill();
  }
  pop() {
    const entry = this.#window.pop();
    if (this.#window.size === 0 && this.#beyond > 0) this.#fill();
    return entry;
  }
  #fill() {
    do {
      const entries = this.#job.best(this.#key, this.#edge, windowSize);
      for (const entry of entries) {
        if (this.#taken.has(entry.id)) continue;
        this.#window.push(entry);
        this.#beyond--;
      }
      this.#edge = entries.at(-1)?.rank ?? this.#edge;
      if (entries.length < windowSize) this.#beyond = 0;
    } while (this.#window.size === 0 && this.#beyond > 0);
  }
  #spill() {
    const entries = [];
    for (let i = 0; i < windowSize; i++) entries.push(this.#window.pop());
    this.#beyond += this.#window.size;
    this.#window.clear();
    for (const entry of entries) this.#window.push(entry);
    this.#edge = entries.at(-1).rank;
  }
}
//# sourceMappingURL=job-scheduler.js.map
