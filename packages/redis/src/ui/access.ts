import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

/** How long a browser stays logged in, in milliseconds: a working day. */
export const sessionMs: number = 12 * 3_600_000;

/** Who may use the dashboard: names it answers to, and the token where there is one. */
export class Access {
  readonly hasToken: boolean;
  readonly #hosts: ReadonlySet<string>;
  readonly #token: string | undefined;

  /** @param hosts - Names it answers to beside `localhost` and addresses. */
  constructor(token: string | undefined, hosts: readonly string[]) {
    this.hasToken = token !== undefined;
    this.#token = token;
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /**
   * False for a name that is not ours. A page of somebody else whose name was made to lead here (DNS rebinding) asks
   * under that name; an address cannot be made to lead anywhere.
   */
  answersTo(host: string | undefined): boolean {
    const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$|\.$/g, '');
    if (!host || !name) return false;
    return (
      isIP(name) > 0 || name === 'localhost' || name.endsWith('.localhost') || this.#hosts.has(name)
    );
  }

  /** True for a request that a page of ours makes, or a program that is no browser. */
  isOwn(headers: Headers): boolean {
    const site = headers.get('sec-fetch-site');
    if (site !== null) return site === 'same-origin' || site === 'none';
    // Browsers send the header above only to https and localhost.
    const origin = headers.get('origin');
    return origin === null || URL.parse(origin)?.host === headers.get('host')?.toLowerCase();
  }

  isToken(text: unknown): boolean {
    return this.#token !== undefined && typeof text === 'string' && equal(text, this.#token);
  }

  /** What a browser keeps in place of the token: it ends by itself, and with another token. */
  newSession(now: number = Date.now()): string {
    const end = String(now + sessionMs);
    return `${end}.${this.#sign(end)}`;
  }

  isSession(text: string | undefined, now: number = Date.now()): boolean {
    const [end = '', mark = ''] = text?.split('.') ?? [];
    return this.hasToken && equal(mark, this.#sign(end)) && Number(end) > now;
  }

  #sign(end: string): string {
    return createHmac('sha256', this.#token ?? '')
      .update(`lycosa dashboard until ${end}`)
      .digest('base64url');
  }
}

/** In a time that does not tell how much of it was right. */
function equal(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
