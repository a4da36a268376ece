import type { Request } from '../http/request.ts';
import { Slot, type SlotWaiter } from './slot.ts';
/** All slots of a process, or of one crawler with `SLOT_SCOPE: 'crawler'`. */
export declare class SlotRegistry {
  #private;
  get(key: string): Slot;
  values(): Iterable<Slot>;
}
/** Settings of one slot in `DOWNLOAD_SLOTS`; the key may be a pattern such as `*.example.com`. */
export interface SlotSettings {
  readonly concurrency?: number;
  /** Seconds. A floor: AutoThrottle does not go below it. */
  readonly delay?: number;
  readonly randomizeDelay?: boolean;
}
export interface SlotDefaults {
  readonly concurrency: number;
  readonly delay: number;
  readonly jitter: number;
  readonly slots: Readonly<Record<string, SlotSettings>>;
}
/** The slots as one crawler sees them: its wishes, and what the scheduler asks. */
export declare class CrawlerSlots {
  #private;
  constructor(registry: SlotRegistry, defaults: SlotDefaults);
  /** `meta.downloadSlot`, else the host. */
  keyOf(request: Request): string;
  get(key: string): Slot;
  /** The slots this crawler has used. */
  entries(): Generator<Slot>;
  /** Delay that slots created from now on start with, in seconds; set by AutoThrottle. */
  set defaultDelay(seconds: number);
  get defaultDelay(): number;
  /** A delay learnt in an earlier run of the job. */
  remember(key: string, delay: number): void;
  isReady(key: string): boolean;
  reserve(key: string): void;
  unreserve(key: string): void;
  wait(key: string, waiter: SlotWaiter): void;
  forget(key: string, waiter: SlotWaiter): void;
  /** Withdraws this crawler's wishes. */
  close(): void;
}
//# sourceMappingURL=slot-registry.d.ts.map
