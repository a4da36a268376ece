const noCache = 'What says no-cache must not stand in for a server that fails (RFC 9111 §4.2.4).';

/**
 * Cases we disagree with on purpose: id, then why the vector is wrong for us. At most 2 % of a file, or one case of a
 * small one; none in the files that are about safety. Judges know more of them, by rule.
 */
export const exceptions: Readonly<Record<string, string>> = {
  'cookies_scrapy-3e9c2613':
    'A byte of a cookie that is no UTF-8 goes back as it came; Scrapy sends U+FFFD, which the site never set.',
  'data_urls-f078fc57':
    'Spaces may stand before the base64 mark (Fetch Standard, data: URL processor), so it is base64; Node’s own fetch says so too.',
  'encoding_w3lib-ca2e931d':
    'The Encoding Standard has no UTF-32: FF FE is the mark of UTF-16LE, for browsers too.',
  'httpcache_rfc2616-09845c32': noCache,
  'httpcache_rfc2616-2a7d1bc2': noCache,
  'link_extractor-8cf8cdb9':
    'The test tells its response that it is GB 18030; the case has lost that, and the bytes do not say it.',
  'offsite-9d766635':
    'The test is of a subclass that lets through another set of hosts; the case has lost the subclass.',
};

/** Files in which nothing is excepted. */
export const strict: RegExp =
  /^(?:redirect_|ssrf_hosts|paths|log_lines|prototype_pollution|csv_injection)/;
