import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { hostOf } from '../../http/url.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** A proxy without its credentials, and they as a header. */
interface ProxyChoice {
  readonly url: string;
  readonly authorization: string | undefined;
}

/** Names of environment variables and their values. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** URLs of proxies that are remembered in parts. */
const maxProxies = 10_000;

/**
 * Sends requests by `meta.proxy` (null is none), or by what `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say. User
 * and password in the URL of a proxy go to that proxy only.
 */
export class HttpProxyMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): HttpProxyMiddleware {
    if (!crawler.settings.get('HTTPPROXY_ENABLED')) throw new NotConfigured();
    return new HttpProxyMiddleware(process.env);
  }

  readonly #byScheme = new Map<string, string>();
  readonly #bypass: readonly string[];
  readonly #choices = new Map<string, ProxyChoice>();

  constructor(environment: Environment) {
    const read = (name: string): string | undefined =>
      environment[name] || environment[name.toUpperCase()] || undefined;
    for (const scheme of ['http', 'https']) {
      // A web server that runs us as CGI sets HTTP_PROXY from a header of its visitor.
      const isCgi = scheme === 'http' && environment['REQUEST_METHOD'] !== undefined;
      const proxy =
        (isCgi ? environment['http_proxy'] : read(`${scheme}_proxy`)) ?? read('all_proxy');
      if (proxy) this.#byScheme.set(scheme, proxy.includes('://') ? proxy : `http://${proxy}`);
    }
    this.#bypass = (read('no_proxy') ?? '')
      .split(/[\s,]+/)
      .filter((entry) => entry !== '')
      .map((entry) => entry.toLowerCase());
  }

  processRequest(request: Request): undefined {
    const { meta } = request;
    let scheme: string | undefined;
    let text = meta.proxy;
    if (text === undefined && this.#byScheme.size > 0) {
      scheme = request.url.slice(0, request.url.indexOf(':'));
      text = this.#byScheme.get(scheme);
      if (text === undefined || this.#bypasses(request.url)) {
        text = undefined;
        scheme = undefined;
      }
    }
    if (!text) {
      if (meta.proxy === '') meta.proxy = null;
      this.#withoutProxy(request);
      return;
    }
    const { url, authorization } = this.#choice(text);
    meta.proxy = url;
    if (scheme !== undefined) meta['schemeProxy'] = true;
    if (authorization !== undefined) {
      request.headers.set('proxy-authorization', authorization);
      meta['authProxy'] = url;
    } else if (meta['authProxy'] !== undefined && meta['authProxy'] !== url) {
      request.headers.delete('proxy-authorization');
      delete meta['authProxy'];
    }
  }

  /** An origin never sees what is for a proxy. */
  #withoutProxy(request: Request): void {
    if (request.hasHeaders) request.headers.delete('proxy-authorization');
    if (request.meta['authProxy'] !== undefined) delete request.meta['authProxy'];
  }

  #choice(text: string): ProxyChoice {
    let choice = this.#choices.get(text);
    if (choice === undefined) {
      if (this.#choices.size >= maxProxies) this.#choices.clear();
      choice = split(text);
      this.#choices.set(text, choice);
    }
    return choice;
  }

  #bypasses(url: string): boolean {
    if (this.#bypass.length === 0) return false;
    const host = hostOf(url).replace(/^\[|\]$/g, '');
    const port = new URL(url).port || (url.startsWith('https:') ? '443' : '80');
    return this.#bypass.some((entry) => {
      if (entry === '*') return true;
      const [, name = '', wanted] =
        /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.replace(/^\*?\./, '')) ?? [];
      if (wanted !== undefined && !name.includes(':') && wanted !== port) return false;
      return host === name || host.endsWith(`.${name}`);
    });
  }
}

function split(text: string): ProxyChoice {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  // The download handler says what is wrong with it.
  if (url === null) return { url: text, authorization: undefined };
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const clean = `${url.protocol}//${url.host}`;
  if (username === '' && password === '') return { url: clean, authorization: undefined };
  const login = `${decode(username)}:${decode(password)}`;
  const authorization = `Basic ${Buffer.from(login, 'utf8').toString('base64')}`;
  return { url: clean, authorization };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
