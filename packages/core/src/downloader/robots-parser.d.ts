/**
 * A robots.txt file.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9309 | RFC 9309}
 */
export declare class RobotsTxt {
  #private;
  /** Absolute URLs of the `Sitemap` lines. */
  readonly sitemaps: readonly string[];
  /** Never throws: what cannot be read says nothing. */
  constructor(content: string | Uint8Array);
  /**
   * May `agent` fetch `url`?
   *
   * @param url - Absolute, or a path.
   * @param agent - A product token (`MyCrawler`) or a whole User-Agent header.
   */
  isAllowed(url: string, agent: string): boolean;
  /** Seconds between two requests that `agent` is asked to keep. */
  crawlDelay(agent: string): number | undefined;
}
//# sourceMappingURL=robots-parser.d.ts.map
