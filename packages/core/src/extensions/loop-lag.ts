/** How often it looks, in milliseconds. */
const interval = 20;
/** A pause of the event loop shorter than this spoils no measurement. */
const shortest = 10;

/** Notices when the event loop was blocked, so that our own slowness is not taken for that of a site. */
export class LoopLag {
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  #blockedUntil = -Infinity;
  #blockedMs = 0;
  /** The longest block so far. */
  maxMs = 0;

  start(): void {
    this.#last = performance.now();
    this.#timer ??= setInterval(() => this.#look(), interval).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** True if what was noticed at `endedAt`, after so many milliseconds, may have happened notably earlier. */
  isSpoilt(endedAt: number, tookMs: number): boolean {
    const blockedMs = this.#blockedMs;
    // Timers run before sockets are read: what came while the loop was blocked is noticed just after this.
    const isJustAfter = endedAt >= this.#blockedUntil && endedAt - this.#blockedUntil < shortest;
    return isJustAfter && blockedMs > tookMs / 10;
  }

  #look(): void {
    const now = performance.now();
    const late = now - this.#last - interval;
    this.#last = now;
    if (late < shortest) return;
    this.maxMs = Math.max(this.maxMs, late);
    this.#blockedMs = late;
    this.#blockedUntil = now;
  }
}
