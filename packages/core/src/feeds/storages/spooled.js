import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { FileFeedStorage } from './file.js';
/** Keeps a feed in a temporary file until it is complete, for a storage that cannot change what was written. */
export class SpooledFeedStorage {
  name;
  location;
  #target;
  #parent;
  #folder;
  #file;
  constructor(target, parent = tmpdir()) {
    this.#target = target;
    this.#parent = parent;
    this.name = target.name;
    this.location = target.location;
  }
  async open() {
    await this.#target.open();
    this.#folder = await mkdtemp(join(this.#parent, 'lycosa-feed-'));
    this.#file = new FileFeedStorage(join(this.#folder, 'feed'), { format: 'spooled' });
    await this.#file.open();
  }
  async write(chunk) {
    await this.#file.write(chunk);
  }
  async rewrite(passes) {
    await this.#file.rewrite(passes);
  }
  async store() {
    for await (const chunk of createReadStream(this.#file.part)) await this.#target.write(chunk);
    await this.#target.store();
    await this.#remove();
  }
  async abandon(isEmpty) {
    await this.#target.abandon(isEmpty);
    await this.#remove();
  }
  async #remove() {
    await this.#file?.abandon(true);
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}
//# sourceMappingURL=spooled.js.map
