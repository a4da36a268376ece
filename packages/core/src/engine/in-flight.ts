/**
 * The few things that are under way, each with what is known of it: a `Map`, but for its garbage. A `Map` that takes
 * and drops thousands a second leaves one outgrown table after the other behind. Each holds what was in it and the
 * next table, so that one that grew old keeps every page since alive until the next full collection.
 * Finding one takes as many steps as there are: tens, at most some thousands.
 */
export class InFlight<K, V = true> {
  readonly #keys: K[] = [];
  readonly #values: V[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** `key` is not there yet. */
  add(key: K, value: V): void {
    this.#keys.push(key);
    this.#values.push(value);
  }

  get(key: K): V | undefined {
    const at = this.#keys.indexOf(key);
    return at < 0 ? undefined : this.#values[at];
  }

  /** False if it was not there. */
  delete(key: K): boolean {
    const at = this.#keys.indexOf(key);
    if (at < 0) return false;
    const lastKey = this.#keys.pop()!;
    const lastValue = this.#values.pop()!;
    if (at < this.#keys.length) {
      this.#keys[at] = lastKey;
      this.#values[at] = lastValue;
    }
    return true;
  }

  keys(): K[] {
    return [...this.#keys];
  }

  entries(): (readonly [K, V])[] {
    return this.#keys.map((key, at) => [key, this.#values[at]!]);
  }

  clear(): void {
    this.#keys.length = 0;
    this.#values.length = 0;
  }
}
