import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { getCACertificates, rootCertificates, type SecureContextOptions } from 'node:tls';

import type { Crawler } from '../../crawler/crawler.ts';
import { SettingsError } from '../../errors.ts';

/** How TLS is spoken in a slot: `tls` of an entry of DOWNLOAD_SLOTS. Files are seen from the project's folder; PEM text works too. */
export interface TlsSettings {
  /** In place of `DOWNLOAD_VERIFY_CERTIFICATES`. */
  readonly verify?: boolean;
  /** Certificates that are trusted beside the usual ones. */
  readonly ca?: string | readonly string[];
  /** Certificate to show to the server, and its key. */
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
  readonly minVersion?: TlsVersion;
  readonly maxVersion?: TlsVersion;
  /** As OpenSSL writes them. */
  readonly ciphers?: string;
  /** Name that the server is asked for, and that its certificate must have; the host by default. */
  readonly servername?: string;
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

type Options = SecureContextOptions & { rejectUnauthorized: boolean; servername?: string };

/** Settings of slots as Node's TLS takes them. */
export class TlsOptions {
  readonly #crawler: Crawler;
  readonly #verifies: boolean;
  #hasWarned = false;

  constructor(crawler: Crawler) {
    this.#crawler = crawler;
    this.#verifies = crawler.settings.get('DOWNLOAD_VERIFY_CERTIFICATES');
    if (!this.#verifies) this.#warn('DOWNLOAD_VERIFY_CERTIFICATES is false');
  }

  /** @throws SettingsError for a file that cannot be read. */
  of(settings: TlsSettings = {}): Options {
    const { verify, ca, cert, key, ...rest } = settings;
    if (this.#verifies && verify === false) this.#warn('tls.verify in DOWNLOAD_SLOTS is false');
    return {
      ...rest,
      rejectUnauthorized: verify ?? this.#verifies,
      ...(ca !== undefined && {
        ca: [...usual(), ...[ca].flat().map((one) => this.#pem('ca', one))],
      }),
      ...(cert !== undefined && { cert: this.#pem('cert', cert) }),
      ...(key !== undefined && { key: this.#pem('key', key) }),
    };
  }

  #pem(name: string, text: string): string {
    if (text.includes('-----BEGIN')) return text;
    const path = resolve(this.#crawler.root, text);
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      throw new SettingsError(
        `DOWNLOAD_SLOTS: tls.${name} must be PEM text or a file of it, and ${path} cannot be read (${(cause as NodeJS.ErrnoException).code}).`,
        { cause },
      );
    }
  }

  #warn(why: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#crawler.log.warn(
      `Certificates are not verified (${why}): anyone on the way can read and change what is downloaded.`,
    );
  }
}

/** What is trusted where nothing is said. */
function usual(): readonly string[] {
  return getCACertificates?.('default') ?? rootCertificates;
}
