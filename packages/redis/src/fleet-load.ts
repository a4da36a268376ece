import { cpus, totalmem } from 'node:os';

/** @internal How busy the machine is. */
export class MachineLoad {
  #busy = 0;
  #total = 0;

  constructor() {
    this.cpu();
  }

  /** The part of all processors that was at work since the last call, by all that runs on the machine: 0 to 1. */
  cpu(): number {
    let busy = 0;
    let total = 0;
    for (const { times } of cpus()) {
      const all = times.user + times.nice + times.sys + times.irq + times.idle;
      busy += all - times.idle;
      total += all;
    }
    const part = total > this.#total ? (busy - this.#busy) / (total - this.#total) : 0;
    this.#busy = busy;
    this.#total = total;
    return Math.round(part * 100) / 100;
  }

  /** Megabytes that may still be used, by the machine or its container, whichever is less. */
  get freeMb(): number {
    return Math.round(process.availableMemory() / 2 ** 20);
  }

  get totalMb(): number {
    return Math.round(Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20);
  }
}
