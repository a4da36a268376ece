/** A binary heap: the least item by `compare` is on top. Every item is in it at most once. */
export class Heap<T extends object> {
  readonly #items: T[] = [];
  readonly #places = new Map<T, number>();
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#up(this.#items.length - 1, item);
  }

  pop(): T | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (top === undefined || last === undefined) return undefined;
    this.#places.delete(top);
    if (top !== last) this.#down(0, last);
    return top;
  }

  /** Puts `item` where it belongs now that its order has changed. */
  update(item: T): void {
    const at = this.#places.get(item);
    if (at === undefined) return;
    this.#up(at, item);
    this.#down(this.#places.get(item)!, item);
  }

  clear(): void {
    this.#items.length = 0;
    this.#places.clear();
  }

  #up(at: number, item: T): void {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = this.#items[parent]!;
      if (this.#compare(item, above) >= 0) break;
      this.#put(at, above);
      at = parent;
    }
    this.#put(at, item);
  }

  #down(at: number, item: T): void {
    const { length } = this.#items;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#compare(this.#items[child + 1]!, this.#items[child]!) < 0)
        child++;
      if (this.#compare(this.#items[child]!, item) >= 0) break;
      this.#put(at, this.#items[child]!);
      at = child;
    }
    this.#put(at, item);
  }

  #put(at: number, item: T): void {
    this.#items[at] = item;
    this.#places.set(item, at);
  }
}
