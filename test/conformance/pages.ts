import { HtmlResponse, type Link, LinkExtractor, type LinkExtractorOptions } from 'lycosa';
import * as html from 'lycosa/html';

import { getMetaRefresh } from '../../packages/core/src/downloader/middlewares/meta-refresh.ts';
import { encodingName } from './encodings.ts';
import { bytesOf, camelCase, type Data, type Judge, responseOf, same, textOf } from './vectors.ts';

export const pageJudges: Readonly<Record<string, Judge>> = {
  html_w3lib({ fn, args, returns, raises }) {
    const page = args.baseurl ? textOf(args.baseurl) : 'http://none.test/';
    if (fn === 'get_base_url') {
      const got = new HtmlResponse(page, { body: bytesOf(args.text) }).baseUrl;
      const expected = String(returns || page);
      return got === expected || got === URL.parse(expected)?.href || { got };
    }
    if (fn === 'get_meta_refresh') {
      const encoding = encodingName(args.encoding ?? 'utf-8');
      const text = givenText(args);
      const refresh = getMetaRefresh(text, page, args.ignore_tags ?? undefined, { encoding });
      const [delay, url] = returns as [number | null, string | null];
      if (delay === null) return refresh === undefined || { got: refresh };
      const isSame =
        refresh?.delay === delay && URL.parse(refresh.url)?.href === URL.parse(url!)?.href;
      return isSame || { got: refresh };
    }
    const change = textChanges[String(fn)];
    if (change === undefined) return 'not built';
    try {
      const got = change(givenText(args), args);
      return raises === undefined ? same(got, returns) : { got };
    } catch (error) {
      return raises !== undefined || { got: error };
    }
  },

  link_extractor({ args, returns, raises }) {
    const options = optionsOf(args.options);
    let links: Link[];
    try {
      links = new LinkExtractor(options).extractLinks(responseOf(args.response));
    } catch (error) {
      return raises !== undefined || { got: error };
    }
    return same(links.map(keyOf), (returns as Data[] | undefined)?.map(keyOf));
  },
};

/** Text given as bytes is in the charset that is given with it. */
function givenText({ text, encoding }: Data): string {
  return typeof text === 'string'
    ? text
    : new TextDecoder(encoding ? encodingName(encoding) : 'utf-8').decode(bytesOf(text));
}

const entities = ({ keep, remove_illegal: removeIllegal }: Data): html.EntityOptions => ({
  keep: (keep ?? []).map(textOf),
  removeIllegal: removeIllegal ?? true,
});

const textChanges: Readonly<Record<string, (text: string, args: Data) => string>> = {
  replace_entities: (text, args) => html.replaceEntities(text, entities(args)),
  unquote_markup: (text, args) => html.unquoteMarkup(text, entities(args)),
  replace_tags: (text, { token }) => html.replaceTags(text, textOf(token ?? '')),
  remove_comments: (text) => html.removeComments(text),
  remove_tags: (text, { which_ones: whichOnes = [], keep = [] }) =>
    html.removeTags(text, { whichOnes: whichOnes.map(textOf), keep: keep.map(textOf) }),
  remove_tags_with_content: (text, { which_ones: whichOnes = [] }) =>
    html.removeTagsWithContent(text, whichOnes.map(textOf)),
  replace_escape_chars: (text, { which_ones: whichOnes, replace_by: replaceBy = '' }) =>
    html.replaceEscapeChars(text, {
      ...(whichOnes && { whichOnes: whichOnes.map(textOf) }),
      replaceBy: textOf(replaceBy),
    }),
  strip_html5_whitespace: (text) => html.stripHtml5Whitespace(text),
};

function keyOf({ url, text, fragment, nofollow }: Link): unknown[] {
  return [URL.parse(url)?.href.replace(/#.*/, ''), text, fragment, nofollow];
}

function optionsOf(given: Data): LinkExtractorOptions {
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries<Data>(given)) {
    options[camelCase(name)] = value?.$re ? new RegExp(value.$re as string) : (value ?? []);
  }
  return options;
}
