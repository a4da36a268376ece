/** Good answers until the delay is back just above where the site refused, about. */
const recovery = 0.75;
/** How far above the delay of the last refusal a slot settles before it tries more. */
const margin = 1.12;
/** How much faster it dares to be with each good answer, once it has settled. */
const probe = 0.0006;
/** Good answers after which a slot that is not refused any more grows bolder. */
const patience = 300;
/** How much faster it becomes with each good answer while it does not know the limit of the site. */
const search = 0.06;
/** Good answers whose times are remembered, and for how many milliseconds: they tell what the site did allow. */
const remembered = 64;
const windowMs = 2000;
/** A delay shorter than this, in seconds, is none. */
const negligible = 0.002;

/** A sign that a site has had too much; all times on the clock of `performance.now()`. */
export interface Congestion {
  readonly now: number;
  /** When the request was sent that met it. */
  readonly dispatchedAt: number;
  /** The delay of the slot now, whatever made it. */
  readonly delay: number;
  /** The delay is multiplied by this. */
  readonly factor: number;
  /** Delay where there was none, in seconds. */
  readonly start: number;
  readonly max: number;
}

/**
 * How far a site has pushed back. A refusal lengthens the delay at once; good answers shorten it: quickly to a
 * little above the delay at which the site refused, from there very slowly, since each try beyond costs a refusal.
 */
export class SlotBackoff {
  /** Seconds; 0 where the site does not push back. */
  delay = 0;
  /** When the last congestion began. What was sent before it belongs to it. */
  since: number = -Infinity;
  /** The delay at which the site refused, in seconds. */
  #limit = 0;
  #goodAnswers = 0;
  readonly #times: number[] = [];

  /** False if it belongs to a burst that was counted already. */
  congested({ now, dispatchedAt, delay, factor, start, max }: Congestion): boolean {
    if (dispatchedAt <= this.since) return false;
    if (delay > 0) this.#limit = Math.min(Math.max(delay, this.#meanGap(now)), max);
    this.since = now;
    this.#goodAnswers = 0;
    this.#times.length = 0;
    this.delay = Math.min(Math.max(delay, this.#limit) * factor || start, max);
    return true;
  }

  /** A good answer to a request sent at `dispatchedAt`. */
  relieved(now: number, dispatchedAt: number): void {
    if (this.delay === 0 || dispatchedAt <= this.since) return;
    this.#times.push(now);
    if (this.#times.length > remembered) this.#times.shift();
    this.delay = this.#next();
    if (this.delay >= negligible) return;
    this.delay = 0;
    this.#limit = 0;
  }

  #next(): number {
    const { delay } = this;
    if (this.#limit === 0) return delay * (1 - search);
    const settled = this.#limit * margin;
    if (delay > settled * 1.01) return settled + (delay - settled) * recovery;
    const boldness = 2 ** Math.floor(this.#goodAnswers++ / patience);
    return delay * (1 - Math.min(probe * boldness, search));
  }

  /** Seconds between good answers of late; 0 where there were too few to tell. */
  #meanGap(now: number): number {
    const recent = this.#times.filter((time) => time > now - windowMs);
    return recent.length < 4 ? 0 : (recent.at(-1)! - recent[0]!) / 1000 / (recent.length - 1);
  }
}
