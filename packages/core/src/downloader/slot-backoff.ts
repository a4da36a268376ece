/**
 * How a delay shrinks with each good answer: by this share, but no faster than so much a second, because a site that
 * counts requests a second notices a higher rate only after that second.
 */
interface Pace {
  readonly perAnswer: number;
  readonly perSecond: number;
}
/** While it does not know what the site allows. */
const searching: Pace = { perAnswer: 0.08, perSecond: 0.5 };
/** On the way back to a little above the delay at which the site refused; of the distance to it. */
const returning: Pace = { perAnswer: 0.25, perSecond: 1.5 };
/** From there on: each try beyond what the site allows costs a refusal. */
const probing: Pace = { perAnswer: 0.0006, perSecond: 0.005 };
/** How far above the delay of the last refusal is a little. */
const margin = 1.08;
/** Probing doubles its pace after so many good answers and so much time. */
const patience = { answers: 300, ms: 60_000 };
/** Once well below the delay at which the site refused: it allows more now. */
const recovering: Pace = { perAnswer: 0.004, perSecond: 0.03 };
const recovered = 0.85;
/** A refusal that costs a pause is met less often: by its seconds over this, up to so many times. */
const cheap = 1.5;
const dearest = 40;
/** Good answers since the last refusal without which the delay of the next one says nothing of the limit. */
const credible = 8;
/** What the site allowed is measured over so much time, or this many answers where they take longer. */
const windowMs = 1000;
const fewest = 4;
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
  /** Seconds that the site asks to wait. */
  readonly pause?: number;
  /** Requests of the last second that it may have allowed, as far as is known. */
  readonly allowed: number;
  /** Delay where there was none, in seconds. */
  readonly start: number;
  readonly max: number;
}

/**
 * How far a site has pushed back. A refusal lengthens the delay at once; good answers shorten it: quickly to a
 * little above the delay at which the site refused, from there very slowly.
 */
export class SlotBackoff {
  /** Seconds; 0 where the site does not push back. */
  delay = 0;
  /** When the last congestion began. What was sent before it belongs to it. */
  since: number = -Infinity;
  /** The delay at which the site refused, in seconds; 0 while unknown. */
  #limit = 0;
  #isGuess = false;
  /** What a refusal costs, in seconds. */
  #cost = 1;
  /** Good answers since, and while probing. */
  #answers = 0;
  #probes = 0;
  #probingSince = 0;
  /** Times of the last good answers. */
  #times: number[] = [];

  /** False if it belongs to a burst that was counted already. */
  congested(sign: Congestion): boolean {
    const { now, dispatchedAt, delay, factor, start, max, pause = 0 } = sign;
    if (dispatchedAt <= this.since) return false;
    this.#limit = Math.min(this.#limitAt(sign), max);
    this.#cost = Math.min(Math.max(1, pause / cheap), dearest);
    this.since = now;
    this.#answers = 0;
    this.#probes = 0;
    this.#times = [];
    const from = this.#limit > 0 && factor < 2 ? Math.max(delay, this.#limit) : delay;
    const next = Math.max(delay === 0 ? start : from * factor, this.#limit * 1.25);
    this.delay = Math.max(delay, Math.min(next, max));
    return true;
  }

  #limitAt({ now, delay, allowed }: Congestion): number {
    // The first time it is what went well in the last second, since most sites count by the second.
    if (this.delay === 0) {
      this.#isGuess = allowed >= 1;
      return this.#isGuess ? 1 / allowed : 0;
    }
    const isWrong = this.#isGuess && this.#answers < credible;
    this.#isGuess = false;
    if (this.#answers >= credible) return this.#meanGap(now);
    if (isWrong) return 0;
    if (this.#limit > 0) return this.#limit * 1.5;
    return this.#answers >= fewest - 1 ? delay : 0;
  }

  /** A good answer to a request sent at `dispatchedAt`. */
  relieved(now: number, dispatchedAt: number): void {
    if (this.delay === 0 || dispatchedAt <= this.since) return;
    const sinceLast = (now - (this.#times.at(-1) ?? this.since)) / 1000;
    this.#answers++;
    this.#times.push(now);
    if (this.#times.length > 1024) this.#times = this.#times.slice(-512);
    this.delay = this.#next(now, sinceLast);
    if (this.delay >= negligible) return;
    this.delay = 0;
    this.#limit = 0;
  }

  #next(now: number, seconds: number): number {
    const { delay } = this;
    if (this.#limit === 0) return delay * (1 - share(searching, seconds));
    const settled = this.#limit * margin;
    if (this.#probes === 0 && delay > settled * 1.01) {
      return settled + (delay - settled) * (1 - share(returning, seconds));
    }
    if (this.#probes++ === 0) this.#probingSince = now;
    const hasRecovered = delay < this.#limit * recovered;
    if (hasRecovered) this.#cost = 1;
    const rounds = Math.min(
      this.#probes / patience.answers,
      (now - this.#probingSince) / patience.ms / this.#cost,
    );
    const step = share(hasRecovered ? recovering : probing, seconds) / this.#cost;
    const bolder = Math.min(step * 2 ** Math.floor(rounds), 1);
    return delay * (1 - Math.min(bolder, share(searching, seconds)));
  }

  /** Seconds between good answers of late. */
  #meanGap(now: number): number {
    const times = this.#times;
    let from = times.length - fewest;
    while (from > 0 && times[from - 1]! > now - windowMs) from--;
    return (times.at(-1)! - times[from]!) / 1000 / (times.length - 1 - from);
  }
}

function share({ perAnswer, perSecond }: Pace, seconds: number): number {
  return Math.min(perAnswer, perSecond * seconds);
}
