import type { Request } from '../http/request.ts';
import type { SlotStore } from './ready-queue.ts';

/** The requests of one slot and one priority: callbacks' last in first out, then start requests in their own order. */
class Level {
  readonly priority: number;
  readonly #fifo: boolean;
  #stack: Request[] = [];
  #stackHead = 0;
  #starts: Request[] = [];
  #startsHead = 0;

  constructor(priority: number, fifo: boolean) {
    this.priority = priority;
    this.#fifo = fifo;
  }

  get size(): number {
    return this.#stack.length - this.#stackHead + this.#starts.length - this.#startsHead;
  }

  /** @param isBack - It was taken already, so it is the next again. */
  push(request: Request, isBack: boolean): void {
    const isStart = request.meta.isStartRequest === true;
    const queue = isStart ? this.#starts : this.#stack;
    if (isBack && (isStart || this.#fifo))
      queue.splice(isStart ? this.#startsHead : this.#stackHead, 0, request);
    else queue.push(request);
  }

  pop(): Request | undefined {
    if (this.#stack.length > this.#stackHead) {
      if (!this.#fifo) return this.#stack.pop();
      const request = this.#stack[this.#stackHead]!;
      this.#stackHead = compact(this.#stack, this.#stackHead + 1);
      return request;
    }
    if (this.#starts.length === this.#startsHead) return undefined;
    const request = this.#starts[this.#startsHead]!;
    this.#startsHead = compact(this.#starts, this.#startsHead + 1);
    return request;
  }
}

/** Drops the used front of a queue now and then; returns the new head. */
function compact(queue: Request[], head: number): number {
  if (head < 1024 && head < queue.length) return head;
  if (head * 2 < queue.length) return head;
  queue.splice(0, head);
  return 0;
}

/** The pending requests of one slot, in memory. */
export class MemoryStore implements SlotStore<Request> {
  readonly #fifo: boolean;
  /** Highest priority last. Few: a crawl uses a handful of priorities. */
  readonly #levels: Level[] = [];

  constructor(order: 'lifo' | 'fifo') {
    this.#fifo = order === 'fifo';
  }

  get top(): number {
    return this.#levels.at(-1)?.priority ?? -Infinity;
  }

  push(request: Request, isBack = false): void {
    const { priority } = request;
    let at = this.#levels.length;
    while (at > 0 && this.#levels[at - 1]!.priority > priority) at--;
    if (this.#levels[at - 1]?.priority !== priority) {
      this.#levels.splice(at, 0, new Level(priority, this.#fifo));
      at++;
    }
    this.#levels[at - 1]!.push(request, isBack);
  }

  pop(): Request | undefined {
    const level = this.#levels.at(-1);
    const request = level?.pop();
    if (level?.size === 0) this.#levels.pop();
    return request;
  }
}
