import { CookiesMiddleware } from './cookies.js';
import { DefaultHeadersMiddleware } from './default-headers.js';
import { DownloadTimeoutMiddleware } from './download-timeout.js';
import { HttpAuthMiddleware } from './http-auth.js';
import { HttpCompressionMiddleware } from './http-compression.js';
import { MetaRefreshMiddleware } from './meta-refresh.js';
import { OffsiteMiddleware } from './offsite.js';
import { RedirectMiddleware } from './redirect.js';
import { RetryMiddleware } from './retry.js';
import { RobotsTxtMiddleware } from './robots-txt.js';
import { DownloaderStatsMiddleware } from './stats.js';
import { UserAgentMiddleware } from './user-agent.js';
/** The built-in downloader middlewares in Scrapy's order. */
export const baseDownloaderMiddlewares = [
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
  [DownloaderStatsMiddleware, 850],
];
//# sourceMappingURL=base.js.map
