import { NotConfigured } from '../../errors.js';
import { Redirector } from './redirect-request.js';
/** Follows 301, 302, 303, 307 and 308. What may not be followed goes to the spider as it is. */
export class RedirectMiddleware {
  static fromCrawler(crawler) {
    if (!crawler.settings.get('REDIRECT_ENABLED')) throw new NotConfigured();
    return new RedirectMiddleware(crawler);
  }
  #crawler;
  #redirector;
  constructor(crawler) {
    this.#crawler = crawler;
    this.#redirector = new Redirector(crawler);
  }
  /** @throws IgnoreRequest after `REDIRECT_MAX_TIMES`. */
  processResponse(request, response) {
    const { status } = response;
    if (status < 301 || status > 308 || (status > 303 && status < 307)) return response;
    const { meta } = request;
    if (
      meta.dontRedirect ||
      meta.handleHttpstatusAll ||
      meta.handleHttpstatusList?.includes(status) ||
      this.#crawler.spider.handleHttpstatusList?.includes(status)
    ) {
      return response;
    }
    const location = locationOf(response);
    if (location === undefined) return response;
    const target = this.#redirector.resolve(location, request.url);
    if (target === undefined) return response;
    return this.#redirector.follow(request, response, target, status, nextMethod(request, status));
  }
}
/** POST becomes GET after 301 and 302 as in browsers; all but HEAD do after 303. */
function nextMethod({ method }, status) {
  if (status === 303) return method === 'HEAD' ? method : 'GET';
  return method === 'POST' && status < 303 ? 'GET' : method;
}
/** The header with its bytes beyond ASCII escaped: header text is the bytes, one character each. */
function locationOf(response) {
  const value = response.header('location')?.trim();
  if (!value) return undefined;
  return value.replace(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
//# sourceMappingURL=redirect.js.map
