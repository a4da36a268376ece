import { HtmlResponse, LinkExtractor, type LinkExtractorOptions, type Link } from 'lycosa';

import { getMetaRefresh } from '../../packages/core/src/downloader/middlewares/meta-refresh.ts';
import { bytesOf, camelCase, type Data, type Judge, responseOf, same, textOf } from './vectors.ts';

export const pageJudges: Readonly<Record<string, Judge>> = {
  html_w3lib({ fn, args, returns }) {
    const page = args.baseurl ? textOf(args.baseurl) : 'http://none.test/';
    if (fn === 'get_base_url') {
      const got = new HtmlResponse(page, { body: bytesOf(args.text) }).baseUrl;
      const expected = String(returns || page);
      return got === expected || got === URL.parse(expected)?.href || { got };
    }
    if (fn === 'get_meta_refresh') {
      const text = new HtmlResponse(page, { body: bytesOf(args.text) }).text;
      const refresh = getMetaRefresh(text, page, args.ignore_tags ?? undefined);
      const [delay, url] = returns as [number | null, string | null];
      if (delay === null) return refresh === undefined || { got: refresh };
      const isSame =
        refresh?.delay === delay && URL.parse(refresh.url)?.href === URL.parse(url!)?.href;
      if (isSame) return true;
      return args.encoding && args.encoding !== 'utf-8' ? 'not built' : { got: refresh };
    }
    return 'not built';
  },

  link_extractor({ args, returns, raises }) {
    const options = optionsOf(args.options);
    if (options === undefined) return 'not built';
    let links: Link[];
    try {
      links = new LinkExtractor(options).extractLinks(responseOf(args.response));
    } catch (error) {
      return raises !== undefined || { got: error };
    }
    return same(links.map(keyOf), (returns as Data[] | undefined)?.map(keyOf));
  },
};

function keyOf({ url, text, fragment, nofollow }: Link): unknown[] {
  return [URL.parse(url)?.href.replace(/#.*/, ''), text, fragment, nofollow];
}

function optionsOf(given: Data): LinkExtractorOptions | undefined {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries<Data>(given)) {
    // XPath is not built; this one is a CSS selector as well.
    if (name === 'restrict_xpaths' && value === '//div') options.restrictCss = 'div';
    else if (name.includes('xpath')) return undefined;
    else options[camelCase(name)] = value?.$re ? new RegExp(value.$re as string) : (value ?? []);
  }
  return options;
}
