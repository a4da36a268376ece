// `lycosa/html`: what Scrapy's users know from w3lib.html. Text of pages by the rules of text: no page is parsed here.
import { decodeHTMLStrict } from 'entities';

export interface EntityOptions {
  /** Names of entities that stay as they are. */
  readonly keep?: readonly string[];
  /** Takes out those that mean no character, if they are closed; true by default. */
  readonly removeIllegal?: boolean;
}

const entity = /&(?:([a-z\d]+)|#(\d+)|#x([a-f\d]+))(;?)/gi;

/** Entities as the characters they mean: `&pound;`, `&#163;` and `&#xA3` are all `£`. */
export function replaceEntities(text: string, options: EntityOptions = {}): string {
  const { keep = [], removeIllegal = true } = options;
  return text.replace(
    entity,
    (whole: string, name: string, decimal: string, hex: string, end: string) => {
      if (name !== undefined && keep.includes(name.toLowerCase())) return whole;
      const found =
        name === undefined
          ? charOf(decimal === undefined ? parseInt(hex, 16) : Number(decimal))
          : (named(name) ?? named(name.toLowerCase()));
      return found ?? (removeIllegal && end !== '' ? '' : whole);
    },
  );
}

function named(name: string): string | undefined {
  const text = `&${name};`;
  const found = decodeHTMLStrict(text);
  return found === text ? undefined : found;
}

/** By number; what C1 has no place for is what Windows-1252 has there. */
function charOf(code: number): string | undefined {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  if (code < 0x80 || code > 0x9f) return String.fromCodePoint(code);
  const char = decodeHTMLStrict(`&#${code};`);
  return char.charCodeAt(0) === code ? undefined : char;
}

/** Every tag, and every comment up to its first `>`, as `token`; nothing by default. */
export function replaceTags(text: string, token = ''): string {
  return beforeLastTagEnd(text, (tags) => tags.replace(/<[a-z/!][^>]*>/gi, () => token));
}

/** Comments are taken out; one that is not closed goes to the end. */
export function removeComments(text: string): string {
  return text.replace(/<!--[^]*?(?:-->|$)/g, '');
}

export interface RemoveTagsOptions {
  /** Names of the elements whose tags go; all of them by default. */
  readonly whichOnes?: readonly string[];
  /** All but these; only without `whichOnes`. */
  readonly keep?: readonly string[];
}

/** Tags are taken out, what is between them stays. */
export function removeTags(
  text: string,
  { whichOnes = [], keep = [] }: RemoveTagsOptions = {},
): string {
  const named = new Set(
    (whichOnes.length > 0 ? whichOnes : keep).map((name) => name.toLowerCase()),
  );
  return beforeLastTagEnd(text, (tags) =>
    tags.replace(/<\/?([^\s>/]+)[^>]*>/g, (tag, name: string) =>
      named.has(name.toLowerCase()) === whichOnes.length > 0 ? '' : tag,
    ),
  );
}

/** Without a `>` after it no tag ends: looking for it from every `<` would take for ever. */
function beforeLastTagEnd(text: string, change: (tags: string) => string): string {
  const end = text.lastIndexOf('>') + 1;
  return change(text.slice(0, end)) + text.slice(end);
}

/** Elements of these names are taken out with all that is between their tags. */
export function removeTagsWithContent(text: string, whichOnes: readonly string[] = []): string {
  return beforeLastTagEnd(text, (tags) =>
    whichOnes.reduce((left, name) => withoutElement(left, name.replace(/[^\w:-]/g, '')), tags),
  );
}

function withoutElement(text: string, name: string): string {
  const open = new RegExp(String.raw`<${name}(?=[\s>/])[^>]*>`, 'gi');
  const close = new RegExp(String.raw`</${name}(?:\s[^>]*)?>`, 'gi');
  let left = '';
  let from = 0;
  for (;;) {
    open.lastIndex = from;
    const opened = open.exec(text);
    if (opened === null) return left + text.slice(from);
    let end = open.lastIndex;
    if (!opened[0].endsWith('/>')) {
      close.lastIndex = end;
      // One that is never closed is no element.
      if (close.exec(text) === null) return left + text.slice(from);
      end = close.lastIndex;
    }
    left += text.slice(from, opened.index);
    from = end;
  }
}

/** Line ends and tabs, or these characters, as `replaceBy`; nothing by default. */
export function replaceEscapeChars(
  text: string,
  {
    whichOnes = ['\n', '\t', '\r'],
    replaceBy = '',
  }: { readonly whichOnes?: readonly string[]; readonly replaceBy?: string } = {},
): string {
  return whichOnes.reduce((left, char) => left.replaceAll(char, () => replaceBy), text);
}

/** Entities as characters, and what is in CDATA as it is. */
export function unquoteMarkup(text: string, options?: EntityOptions): string {
  let left = '';
  let from = 0;
  const end = text.lastIndexOf(']]>') + 3;
  for (const section of text.slice(0, end).matchAll(/<!\[CDATA\[([^]*?)\]\]>/g)) {
    left += replaceEntities(text.slice(from, section.index), options) + section[1]!;
    from = section.index + section[0].length;
  }
  return left + replaceEntities(text.slice(from), options);
}

/** Without HTML's white space at its ends. */
export { trimHtml as stripHtml5Whitespace } from './url.ts';
