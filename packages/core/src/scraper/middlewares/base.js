import { DepthMiddleware } from './depth.js';
import { HttpErrorMiddleware } from './http-error.js';
import { RefererMiddleware } from './referer.js';
import { StartMiddleware } from './start.js';
import { UrlLengthMiddleware } from './url-length.js';
/** The built-in spider middlewares in Scrapy's order. */
export const baseSpiderMiddlewares = [
  [StartMiddleware, 25],
  [HttpErrorMiddleware, 50],
  [RefererMiddleware, 700],
  [UrlLengthMiddleware, 800],
  [DepthMiddleware, 900],
];
//# sourceMappingURL=base.js.map
