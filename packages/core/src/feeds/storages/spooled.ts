import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { FeedPass } from '../exporters/exporter.ts';
import { FileFeedStorage } from './file.ts';
import type { FeedStorage } from './storage.ts';

/** Keeps a feed in a temporary file until it is complete, for a storage that cannot change what was written. */
export class SpooledFeedStorage implements FeedStorage {
  readonly name: string;
  readonly location: string;
  readonly #target: FeedStorage;
  readonly #parent: string;
  #folder: string | undefined;
  #file: FileFeedStorage | undefined;

  constructor(target: FeedStorage, parent: string = tmpdir()) {
    this.#target = target;
    this.#parent = parent;
    this.name = target.name;
    this.location = target.location;
  }

  async open(): Promise<void> {
    await this.#target.open();
    this.#folder = await mkdtemp(join(this.#parent, 'lycosa-feed-'));
    this.#file = new FileFeedStorage(join(this.#folder, 'feed'), { format: 'spooled' });
    await this.#file.open();
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#file!.write(chunk);
  }

  async rewrite(passes: readonly FeedPass[]): Promise<void> {
    await this.#file!.rewrite(passes);
  }

  async store(): Promise<void> {
    for await (const chunk of createReadStream(this.#file!.part))
      await this.#target.write(chunk as Buffer);
    await this.#target.store();
    await this.#remove();
  }

  async abandon(isEmpty: boolean): Promise<void> {
    await this.#target.abandon(isEmpty);
    await this.#remove();
  }

  async #remove(): Promise<void> {
    await this.#file?.abandon(true);
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}
