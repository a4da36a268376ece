import { hash } from 'node:crypto';

import { UsageError } from '../errors.ts';
import { fingerprint, type FingerprintOptions } from './fingerprint.ts';
import type { Request } from './request.ts';

/** Says what makes requests the same: what `REQUEST_FINGERPRINTER_CLASS` names. */
export interface Fingerprinter {
  /** Bytes or text that equal requests share, of any length. It must be the same in the next run of a job. */
  fingerprint(request: Request): Uint8Array | string;
}

/** The default: method, canonical URL, body, and what the options add. Made to be extended. */
export class RequestFingerprinter implements Fingerprinter {
  readonly #options: FingerprintOptions | undefined;

  constructor(options?: FingerprintOptions) {
    this.#options = options;
  }

  fingerprint(request: Request): Uint8Array | string {
    return fingerprint(request, this.#options);
  }
}

/** Bytes of a fingerprint. */
const length = 16;

/** What a crawl knows requests by: its duplicate filter, its HTTP cache, its job and its frontier. */
export class RequestFingerprints {
  readonly #own: Fingerprinter | undefined;

  constructor(own?: Fingerprinter) {
    this.#own = own;
  }

  /** True where two GETs of one URL are always the same request, so that known URLs need no fingerprint. */
  get isUrlEnough(): boolean {
    return this.#own === undefined;
  }

  /**
   * 16 bytes.
   *
   * @throws UsageError where the user's class returns nothing that is a fingerprint.
   */
  of(request: Request): Buffer {
    if (this.#own === undefined) return fingerprint(request);
    const print: unknown = this.#own.fingerprint(request);
    const isBytes = print instanceof Uint8Array;
    if ((!isBytes && typeof print !== 'string') || print.length === 0) {
      throw new UsageError(
        `${this.#own.constructor.name}.fingerprint must return bytes or text, got ${isBytes || print === '' ? 'none' : typeof print} for ${request.toString()}.`,
      );
    }
    if (isBytes && print.length === length)
      return Buffer.from(print.buffer, print.byteOffset, length);
    return hash('sha1', print, 'buffer').subarray(0, length);
  }
}
