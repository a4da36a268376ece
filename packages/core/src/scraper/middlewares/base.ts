import type { ComponentPriorities } from '../../crawler/component.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
import { DepthMiddleware } from './depth.ts';
import { HttpErrorMiddleware } from './http-error.ts';
import { LinksPerPageMiddleware } from './links-per-page.ts';
import { RefererMiddleware } from './referer.ts';
import { StartMiddleware } from './start.ts';
import { UrlLengthMiddleware } from './url-length.ts';

/** The built-in spider middlewares in Scrapy's order. */
export const baseSpiderMiddlewares: ComponentPriorities<SpiderMiddleware> = [
  [StartMiddleware, 25],
  [HttpErrorMiddleware, 50],
  [RefererMiddleware, 700],
  [UrlLengthMiddleware, 800],
  [LinksPerPageMiddleware, 850],
  [DepthMiddleware, 900],
];
