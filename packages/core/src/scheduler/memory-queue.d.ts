import type { Request } from '../http/request.ts';
import type { SlotStore } from './ready-queue.ts';
/** The pending requests of one slot, in memory. */
export declare class MemoryStore implements SlotStore<Request> {
  #private;
  constructor(order: 'lifo' | 'fifo');
  get top(): number;
  push(request: Request): void;
  pop(): Request | undefined;
}
//# sourceMappingURL=memory-queue.d.ts.map
