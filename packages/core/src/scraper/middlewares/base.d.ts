import type { ComponentPriorities } from '../../crawler/component.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
/** The built-in spider middlewares in Scrapy's order. */
export declare const baseSpiderMiddlewares: ComponentPriorities<SpiderMiddleware>;
//# sourceMappingURL=base.d.ts.map
