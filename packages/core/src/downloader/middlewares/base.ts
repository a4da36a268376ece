import type { ComponentPriorities } from '../../crawler/component.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
import { CookiesMiddleware } from './cookies.ts';
import { DefaultHeadersMiddleware } from './default-headers.ts';
import { DownloadTimeoutMiddleware } from './download-timeout.ts';
import { HtmlLimitsMiddleware } from './html-limits.ts';
import { HttpAuthMiddleware } from './http-auth.ts';
import { HttpCacheMiddleware } from './http-cache.ts';
import { HttpCompressionMiddleware } from './http-compression.ts';
import { HttpProxyMiddleware } from './http-proxy.ts';
import { MetaRefreshMiddleware } from './meta-refresh.ts';
import { OffsiteMiddleware } from './offsite.ts';
import { RedirectMiddleware } from './redirect.ts';
import { RetryMiddleware } from './retry.ts';
import { RobotsTxtMiddleware } from './robots-txt.ts';
import { DownloaderStatsMiddleware } from './stats.ts';
import { UserAgentMiddleware } from './user-agent.ts';

/** The built-in downloader middlewares in Scrapy's order. */
export const baseDownloaderMiddlewares: ComponentPriorities<DownloaderMiddleware> = [
  [OffsiteMiddleware, 50],
  [RobotsTxtMiddleware, 100],
  [HttpAuthMiddleware, 300],
  [DownloadTimeoutMiddleware, 350],
  [DefaultHeadersMiddleware, 400],
  [UserAgentMiddleware, 500],
  [RetryMiddleware, 550],
  [MetaRefreshMiddleware, 580],
  [HttpCompressionMiddleware, 590],
  [RedirectMiddleware, 600],
  [CookiesMiddleware, 700],
  [HttpProxyMiddleware, 750],
  [DownloaderStatsMiddleware, 850],
  [HttpCacheMiddleware, 900],
  [HtmlLimitsMiddleware, 950],
];
