import type { Response } from '../http/response.ts';
/** A link of a page. */
export interface Link {
  /** Absolute, without its fragment. */
  readonly url: string;
  readonly text: string;
  /** Without the `#`; empty if there was none. */
  readonly fragment: string;
  readonly nofollow: boolean;
}
type Patterns = RegExp | string | readonly (RegExp | string)[];
export interface LinkExtractorOptions {
  /** Searched in the absolute URL; one must match. */
  readonly allow?: Patterns;
  /** None may match. */
  readonly deny?: Patterns;
  /** Hosts, with everything below them. */
  readonly allowDomains?: string | readonly string[];
  readonly denyDomains?: string | readonly string[];
  /** Extensions without dot; archives, images, media, office files and programs by default. */
  readonly denyExtensions?: readonly string[];
  /** Only links inside what these selectors find. */
  readonly restrictCss?: string | readonly string[];
  /** The text of the link must match one. */
  readonly restrictText?: Patterns;
  /** `['a', 'area']` by default. */
  readonly tags?: readonly string[];
  /** `['href']` by default. */
  readonly attrs?: readonly string[];
  /** Gives URLs in canonical form. */
  readonly canonicalize?: boolean;
  /** False gives repeats too. */
  readonly unique?: boolean;
  /** Changes each raw value; null or undefined drops it. */
  readonly processValue?: (value: string) => string | null | undefined;
  /** Which of the page's neighbours are taken; all by default. */
  readonly strategy?: 'all' | 'same-hostname' | 'same-origin' | 'same-domain';
}
/** Archives, images, audio, video, office documents, programs. */
export declare const ignoredExtensions: readonly string[];
/** Finds the links of a page. */
export declare class LinkExtractor {
  #private;
  constructor(options?: LinkExtractorOptions);
  /** The links, in the order of the page; what is no URL is skipped. */
  extractLinks(response: Response): Link[];
  /** True if a link to `url` would be taken. */
  matches(url: string): boolean;
}
export {};
//# sourceMappingURL=link-extractor.d.ts.map
