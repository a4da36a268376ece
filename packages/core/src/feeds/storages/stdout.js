/** Standard output. It stays open; a reader that has gone away ends the feed, not the crawl. */
export class StdoutFeedStorage {
  name = 'StdoutFeedStorage';
  location = 'standard output';
  #stream;
  #isGone = false;
  #onError = (error) => {
    if (isPipeEnd(error)) this.#isGone = true;
  };
  constructor(stream = process.stdout) {
    this.#stream = stream;
  }
  open() {
    this.#stream.on('error', this.#onError);
  }
  async write(chunk) {
    if (this.#isGone) return;
    await new Promise((resolve, reject) => {
      this.#stream.write(chunk, (error) => {
        if (!error) return resolve();
        if (!isPipeEnd(error)) return reject(error);
        this.#isGone = true;
        resolve();
      });
    });
  }
  async store() {
    // The stream reports a lost reader once more after the write.
    if (!this.#isGone) this.#stream.off('error', this.#onError);
  }
  async abandon() {
    await this.store();
  }
}
function isPipeEnd(error) {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}
//# sourceMappingURL=stdout.js.map
