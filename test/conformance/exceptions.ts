const digits =
  "Google's parser ends an agent name at the first digit, so that MJ12bot and every MJ share a group; ours reads the name whole, as Protego does. And /robots.txt itself is always allowed (RFC 9309 §2.2.2).";
const noCache = 'What says no-cache must not stand in for a server that fails (RFC 9111 §4.2.4).';

/**
 * Cases we disagree with on purpose: id, then why the vector is wrong for us. At most 2 % of a file, or one case of a
 * small one; none in the files that are about safety.
 */
export const exceptions: Readonly<Record<string, string>> = {
  'cookies_scrapy-3e9c2613':
    'A byte of a cookie that is no UTF-8 goes back as it came; Scrapy sends U+FFFD, which the site never set.',
  'data_urls-f078fc57':
    'Nothing is left of the media type once the base64 mark is off, as with `;base64`: the default is text/plain;charset=US-ASCII.',
  'encoding_w3lib-ca2e931d':
    'The Encoding Standard has no UTF-32: FF FE is the mark of UTF-16LE, for browsers too.',
  'freshness-s-maxage-shared':
    's-maxage is for caches that many share; this one belongs to a crawl (RFC 9111 §5.2.2.10).',
  'httpcache_rfc2616-09845c32': noCache,
  'httpcache_rfc2616-2a7d1bc2': noCache,
  'link_extractor-8cf8cdb9':
    'The test tells its response that it is GB 18030; the case has lost that, and the bytes do not say it.',
  'offsite-9d766635':
    'The test is of a subclass that lets through another set of hosts; the case has lost the subclass.',
  'robots_google-28497f70': digits,
  'robots_protego-1729fca3':
    'Unknown lines do not end a group of agents (RFC 9309 §2.2.4: other records must not interfere).',
  'robots_protego-ea5de91e':
    'A pattern that is a whole URL begins with no slash and matches no path (RFC 9309 §2.2.2).',
  'url_query_tools-e006ab27':
    'A parameter without a value is left out by the Fetch Standard; w3lib refuses the whole URL.',
  'url_safe-004cbbe9':
    'An escape in a user or password stays as it is written: both spellings mean the same.',
};

/** Files in which nothing is excepted. */
export const strict: RegExp =
  /^(?:redirect_|ssrf_hosts|paths|log_lines|prototype_pollution|csv_injection)/;
