import { UsageError } from '../errors.js';
import { Headers } from './headers.js';
import { safeUrl } from './url.js';
const methodToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** One request to make. It is not changed once it is scheduled: use `replace()`. */
export class Request {
  /** Absolute and percent-encoded. */
  url;
  method;
  body;
  cookies;
  meta;
  cbKwargs;
  priority;
  dontFilter;
  notBefore;
  flags;
  callback;
  errback;
  #headers;
  /** @throws UsageError when the URL has no scheme or cannot be parsed. */
  constructor(url, options = {}) {
    this.url = safeUrl(url);
    const method = options.method;
    this.method = method === undefined ? 'GET' : method.toUpperCase();
    if (method !== undefined && !methodToken.test(method)) {
      throw new UsageError(`${JSON.stringify(method)} is not an HTTP method.`);
    }
    const { body } = options;
    this.body = typeof body === 'string' ? Buffer.from(body) : body;
    this.cookies = options.cookies;
    // A copy: the middlewares write into it, and many requests may come from one options object.
    this.meta = { ...options.meta };
    this.cbKwargs = options.cbKwargs;
    this.priority = options.priority ?? 0;
    this.dontFilter = options.dontFilter ?? false;
    this.notBefore = options.notBefore;
    this.flags = options.flags;
    this.callback = options.callback;
    this.errback = options.errback;
    if (options.headers !== undefined) this.#headers = new Headers(options.headers);
  }
  /** Made when first asked for. */
  get headers() {
    return (this.#headers ??= new Headers());
  }
  /** True where asking for `headers` would only make an empty object. */
  get hasHeaders() {
    return this.#headers !== undefined && this.#headers.size > 0;
  }
  /** A copy with some parts changed; `meta` and `cbKwargs` are copied, not shared. */
  replace(changes) {
    const { url = this.url, ...rest } = changes;
    const copy = this.constructor;
    return new copy(url, {
      callback: this.callback,
      errback: this.errback,
      method: this.method,
      headers: this.#headers,
      body: this.body,
      cookies: this.cookies,
      meta: this.meta,
      cbKwargs: this.cbKwargs && { ...this.cbKwargs },
      priority: this.priority,
      dontFilter: this.dontFilter,
      flags: this.flags,
      ...rest,
    });
  }
  copy() {
    return this.replace({});
  }
  toString() {
    return `<${this.method} ${redactUrl(this.url)}>`;
  }
}
/** The URL as it may be shown: a password in it is not. */
export function redactUrl(url) {
  const at = url.indexOf('@');
  if (at < 0) return url;
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@');
}
//# sourceMappingURL=request.js.map
