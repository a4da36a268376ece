/**
 * An onlooker: built once a crawl by `fromCrawler(crawler)`, it connects to signals there and is not called otherwise.
 * It declines by throwing `NotConfigured`. The order number decides only who is built, and so told, first.
 */
export interface Extension {}
//# sourceMappingURL=extension.d.ts.map
