import { Heap } from './heap.js';
import { MemoryStore } from './memory-queue.js';
import { ReadyQueue } from './ready-queue.js';
/** The default scheduler: everything in memory. */
export class MemoryScheduler {
  #queue;
  #dupeFilter;
  #slots;
  #stats;
  #leased = new Set();
  #waiting = new Heap((a, b) => a.notBefore - b.notBefore);
  constructor(options) {
    const { order } = options;
    this.#queue = new ReadyQueue(() => new MemoryStore(order), options.onReady);
    this.#dupeFilter = options.dupeFilter;
    this.#slots = options.slots;
    this.#stats = options.stats;
  }
  open() {}
  enqueue(request) {
    // A start request always passes, and is known from then on: a link back to it is a duplicate.
    const isKnown =
      (!request.dontFilter || request.meta.isStartRequest === true) &&
      this.#dupeFilter.requestSeen(request);
    if (isKnown && !request.dontFilter) {
      this.#stats.inc('dupefilter/filtered');
      return false;
    }
    this.#push(request);
    this.#stats.inc('scheduler/enqueued');
    this.#stats.inc('scheduler/enqueued/memory');
    return true;
  }
  next(slots) {
    if (this.#waiting.size > 0) this.#moveDue();
    const request = this.#queue.pop(slots);
    if (request !== undefined) {
      this.#leased.add(request);
      this.#stats.inc('scheduler/dequeued');
      this.#stats.inc('scheduler/dequeued/memory');
    }
    return request;
  }
  done(request) {
    this.#leased.delete(request);
  }
  release(request) {
    if (this.#leased.delete(request)) this.#push(request);
  }
  get pending() {
    return this.#queue.size + this.#waiting.size;
  }
  get leased() {
    return this.#leased.size;
  }
  get nextDue() {
    return this.#waiting.peek()?.notBefore;
  }
  close() {
    this.#queue.clear(this.#slots);
    this.#waiting.clear();
  }
  #push(request) {
    if (request.notBefore !== undefined && request.notBefore > Date.now()) {
      this.#waiting.push(request);
    } else {
      this.#queue.push(request, this.#slots.keyOf(request));
    }
  }
  #moveDue() {
    const now = Date.now();
    for (
      let next = this.#waiting.peek();
      next && next.notBefore <= now;
      next = this.#waiting.peek()
    ) {
      this.#waiting.pop();
      this.#queue.push(next, this.#slots.keyOf(next));
    }
  }
}
//# sourceMappingURL=scheduler.js.map
