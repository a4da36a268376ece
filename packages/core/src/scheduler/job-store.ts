import type { Request } from '../http/request.ts';
import { Heap } from './heap.ts';
import { type BadEntry, compareRanks, type JobEntry, type JobFile, type Rank } from './job.ts';
import type { SlotStore } from './ready-queue.ts';

/** Entries held in memory over all slots, about; the rest is read from the file when they are used up. */
const memoryEntries = 2000;
/** Most and least that is read of a slot at a time. Two: one to give out, one whose priority is known. */
const maxWindow = 1000;
const minWindow = 2;

export interface JobWindowsOptions {
  readonly job: JobFile;
  /** Entries that are in the file but not to be read from it. */
  readonly taken: ReadonlySet<number>;
  /** Slots that have requests. */
  readonly slotCount: () => number;
  /** Why a request of the file cannot be made; undefined if it can. */
  readonly refusal: (request: Request) => string | undefined;
  readonly setAside: (key: string, entry: BadEntry) => void;
}

/** What the stores of all slots share: how much of the file is in memory, and for which of them. */
export class JobWindows {
  readonly options: JobWindowsOptions;
  /** Entries in the windows of all stores. */
  held = 0;
  /** Stores with a window, those that were not asked for longest first. */
  readonly #open = new Set<JobStore>();
  #latest: JobStore | undefined;

  constructor(options: JobWindowsOptions) {
    this.options = options;
  }

  /** Entries of a slot that are read at a time. */
  get size(): number {
    const share = Math.floor(memoryEntries / Math.max(1, this.options.slotCount()));
    return Math.max(minWindow, Math.min(maxWindow, share));
  }

  get isFull(): boolean {
    return this.held >= memoryEntries;
  }

  /** The store is used; where memory is full, those that were not are shut. */
  use(store: JobStore): void {
    if (this.#latest !== store) {
      this.#open.delete(store);
      this.#open.add(store);
      this.#latest = store;
    }
    for (const other of this.#open) {
      if (this.held <= memoryEntries) return;
      if (other !== store) this.#close(other);
    }
  }

  /** The store is empty. */
  forget(store: JobStore): void {
    this.#open.delete(store);
    if (this.#latest === store) this.#latest = undefined;
  }

  #close(store: JobStore): void {
    this.#open.delete(store);
    store.shut();
  }
}

/**
 * The pending requests of one slot in the file. The best of them are in memory, in its window, while it is used; a
 * slot among very many is only a count and a priority.
 */
export class JobStore implements SlotStore<JobEntry> {
  readonly #windows: JobWindows;
  readonly #key: string;
  #window: Heap<JobEntry> | undefined;
  /** Entries of the file beyond the window. */
  #beyond: number;
  /** Priority of the best of them, where there is no window. */
  #beyondTop: number;
  /** The worst rank that is in memory for certain; entries behind it are only in the file. */
  #edge: Rank | undefined;

  /**
   * @param stored - Entries that are in the file already.
   * @param top - Priority of the best of them.
   */
  constructor(windows: JobWindows, key: string, stored = 0, top = 0) {
    this.#windows = windows;
    this.#key = key;
    this.#beyond = stored;
    this.#beyondTop = top;
  }

  get top(): number {
    const best = this.#window?.peek();
    if (best !== undefined) return -best.rank[0];
    return this.#beyond > 0 ? this.#beyondTop : -Infinity;
  }

  push(entry: JobEntry): void {
    const windows = this.#windows;
    if (this.#isBeyond(entry)) {
      const priority = -entry.rank[0];
      this.#beyondTop = this.#beyond > 0 ? Math.max(this.#beyondTop, priority) : priority;
      this.#beyond++;
      return;
    }
    const window = (this.#window ??= makeWindow());
    window.push(entry);
    windows.held++;
    if (window.size > 2 * windows.size) this.#spill(window);
    windows.use(this);
  }

  pop(): JobEntry | undefined {
    if (this.#window === undefined) this.#fill();
    const entry = this.#window?.pop();
    if (entry !== undefined) this.#windows.held--;
    if (this.#window?.size === 0) {
      this.#window = undefined;
      this.#fill();
    }
    if (this.#window === undefined) this.#windows.forget(this);
    else this.#windows.use(this);
    return entry;
  }

  /** Gives its memory back. All of it is in the file, or goes there before it is read again. */
  shut(): void {
    const window = this.#window;
    if (window === undefined) return;
    this.#beyondTop = this.top;
    this.#beyond += window.size;
    this.#windows.held -= window.size;
    this.#window = undefined;
    this.#edge = undefined;
  }

  #isBeyond({ rank }: JobEntry): boolean {
    if (this.#window === undefined) return this.#beyond > 0 || this.#windows.isFull;
    return this.#beyond > 0 && this.#edge !== undefined && compareRanks(rank, this.#edge) > 0;
  }

  #fill(): void {
    const windows = this.#windows;
    const { job, taken, refusal, setAside } = windows.options;
    while (this.#window === undefined && this.#beyond > 0) {
      const { size } = windows;
      const entries = job.best(this.#key, this.#edge, size);
      for (const entry of entries) {
        if ('id' in entry && taken.has(entry.id)) continue;
        this.#beyond--;
        const reason = 'id' in entry ? refusal(entry.request) : entry.reason;
        if (reason === undefined) {
          (this.#window ??= makeWindow()).push(entry as JobEntry);
          windows.held++;
        } else setAside(this.#key, { rank: entry.rank, reason });
      }
      this.#edge = entries.at(-1)?.rank ?? this.#edge;
      if (entries.length < size) this.#beyond = 0;
    }
    if (this.#beyond === 0) this.#edge = undefined;
  }

  #spill(window: Heap<JobEntry>): void {
    const kept: JobEntry[] = [];
    for (let i = this.#windows.size; i > 0; i--) kept.push(window.pop()!);
    this.#beyond += window.size;
    this.#windows.held -= window.size;
    window.clear();
    for (const entry of kept) window.push(entry);
    this.#edge = kept.at(-1)!.rank;
  }
}

function makeWindow(): Heap<JobEntry> {
  return new Heap((a, b) => compareRanks(a.rank, b.rank));
}
