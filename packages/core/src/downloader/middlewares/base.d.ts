import type { ComponentPriorities } from '../../crawler/component.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** The built-in downloader middlewares in Scrapy's order. */
export declare const baseDownloaderMiddlewares: ComponentPriorities<DownloaderMiddleware>;
//# sourceMappingURL=base.d.ts.map
