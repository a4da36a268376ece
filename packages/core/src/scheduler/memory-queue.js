/** The requests of one slot and one priority: callbacks' last in first out, then start requests in their own order. */
class Level {
  priority;
  #fifo;
  #stack = [];
  #stackHead = 0;
  #starts = [];
  #startsHead = 0;
  constructor(priority, fifo) {
    this.priority = priority;
    this.#fifo = fifo;
  }
  get size() {
    return this.#stack.length - this.#stackHead + this.#starts.length - this.#startsHead;
  }
  push(request) {
    (request.meta.isStartRequest ? this.#starts : this.#stack).push(request);
  }
  pop() {
    if (this.#stack.length > this.#stackHead) {
      if (!this.#fifo) return this.#stack.pop();
      const request = this.#stack[this.#stackHead];
      this.#stackHead = compact(this.#stack, this.#stackHead + 1);
      return request;
    }
    if (this.#starts.length === this.#startsHead) return undefined;
    const request = this.#starts[this.#startsHead];
    this.#startsHead = compact(this.#starts, this.#startsHead + 1);
    return request;
  }
}
/** Drops the used front of a queue now and then; returns the new head. */
function compact(queue, head) {
  if (head < 1024 && head < queue.length) return head;
  if (head * 2 < queue.length) return head;
  queue.splice(0, head);
  return 0;
}
/** The pending requests of one slot, in memory. */
export class MemoryStore {
  #fifo;
  /** Highest priority last. Few: a crawl uses a handful of priorities. */
  #levels = [];
  constructor(order) {
    this.#fifo = order === 'fifo';
  }
  get top() {
    return this.#levels.at(-1)?.priority ?? -Infinity;
  }
  push(request) {
    const { priority } = request;
    let at = this.#levels.length;
    while (at > 0 && this.#levels[at - 1].priority > priority) at--;
    if (this.#levels[at - 1]?.priority !== priority) {
      this.#levels.splice(at, 0, new Level(priority, this.#fifo));
      at++;
    }
    this.#levels[at - 1].push(request);
  }
  pop() {
    const level = this.#levels.at(-1);
    const request = level?.pop();
    if (level?.size === 0) this.#levels.pop();
    return request;
  }
}
//# sourceMappingURL=memory-queue.js.map
