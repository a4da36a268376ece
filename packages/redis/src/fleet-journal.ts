import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Claim, SpiderSets, SpiderTarget } from './spider-sets.ts';

/** How a run ended, as Redis is to hear of it. */
export interface JournalEntry {
  readonly owner: string;
  readonly claim: Claim;
  readonly to: SpiderTarget;
  readonly record?: object;
}

/**
 * @internal What Redis could not be told: one file a run. Whoever finds it tells it again, the same agent or the next one
 * on this machine; the token says whether it still counts.
 */
export class RunJournal {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  add(entry: JournalEntry): void {
    const path = this.#path(entry);
    mkdirSync(this.#folder, { recursive: true });
    // Whole, or not at all.
    writeFileSync(`${path}.part`, JSON.stringify(entry), { flush: true });
    renameSync(`${path}.part`, path);
  }

  remove(entry: JournalEntry): void {
    rmSync(this.#path(entry), { force: true });
  }

  entries(): JournalEntry[] {
    let names: string[];
    try {
      names = readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
    } catch {
      return [];
    }
    return names.flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(this.#folder, name), 'utf8')) as JournalEntry];
      } catch {
        // Another agent was quicker, or it is none of ours.
        return [];
      }
    });
  }

  /**
   * Tells Redis all that it has not heard.
   *
   * @returns How many ends counted.
   */
  async replay(sets: SpiderSets): Promise<number> {
    let count = 0;
    for (const entry of this.entries()) {
      const { claim, to, record, owner } = entry;
      if (await sets.release(claim, to, record, owner)) count++;
      this.remove(entry);
    }
    return count;
  }

  #path({ claim, owner }: JournalEntry): string {
    const id = JSON.stringify([claim.name, claim.token, owner]);
    return join(this.#folder, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`);
  }
}
