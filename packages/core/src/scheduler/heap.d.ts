/** A binary heap: the least item by `compare` is on top. Every item is in it at most once. */
export declare class Heap<T extends object> {
  #private;
  constructor(compare: (a: T, b: T) => number);
  get size(): number;
  peek(): T | undefined;
  push(item: T): void;
  pop(): T | undefined;
  /** Puts `item` where it belongs now that its order has changed. */
  update(item: T): void;
  clear(): void;
}
//# sourceMappingURL=heap.d.ts.map
