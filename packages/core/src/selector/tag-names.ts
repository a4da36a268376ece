import { detach } from '../http/url.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const voidElements = words(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
);
const foreignElements = words('math svg');
const integrationElements = words('mi mo mn ms mtext annotation-xml foreignobject desc title');
/** Elements whose content is text up to their end tag. */
const rawTextElements = words('script style title textarea xmp');

const p = words('p');
const form = words('input option optgroup select button datalist textarea');
/** Which open elements an opening tag ends. */
const openImpliesClose = new Map<string, ReadonlySet<string>>([
  ['tr', words('tr th td')],
  ['th', words('th')],
  ['td', words('thead th td')],
  ['body', words('head link script')],
  ['li', words('li')],
  ['option', words('option')],
  ['optgroup', words('optgroup option')],
  ['dd', words('dd dt')],
  ['dt', words('dd dt')],
  ['rt', words('rt rp')],
  ['rp', words('rt rp')],
  ['tbody', words('thead tbody')],
  ['tfoot', words('thead tbody')],
  ...'select input output button datalist textarea'.split(' ').map((name) => [name, form] as const),
  ...'p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul'
    .split(' ')
    .map((name) => [name, p] as const),
]);

/** The name of an element or an attribute, and what it means for a tree. */
export class TagName {
  /** In small letters. */
  readonly name: string;
  /** As it is written. */
  readonly raw: string;
  readonly isVoid: boolean;
  readonly isForeign: boolean;
  readonly isIntegration: boolean;
  readonly isRawText: boolean;
  /** Open elements that its opening tag ends. */
  readonly implied: ReadonlySet<string> | undefined;

  constructor(raw: string) {
    const name = raw.toLowerCase();
    this.raw = raw;
    this.name = name;
    this.isVoid = voidElements.has(name);
    this.isForeign = foreignElements.has(name);
    this.isIntegration = integrationElements.has(name);
    this.isRawText = rawTextElements.has(name);
    this.implied = openImpliesClose.get(name);
  }
}

// Pages use few names, over and over. The place is found while the name is read, so that a known one is neither cut
// out, nor made small, nor looked up. A name that falls on the place of another takes it.
const places = 2048;
const known: (TagName | undefined)[] = Array.from({ length: places });
/** Longer ones are not kept: a page may be all name. */
const longest = 40;

/** The name that stands in `html` from `start` to `end`; `hash` is a number made of its characters. */
export function tagName(html: string, start: number, end: number, hash: number): TagName {
  const place = hash & (places - 1);
  const found = known[place];
  if (
    found !== undefined &&
    found.raw.length === end - start &&
    html.startsWith(found.raw, start)
  ) {
    return found;
  }
  const fresh = new TagName(detach(html.slice(start, end)));
  if (end - start <= longest) known[place] = fresh;
  return fresh;
}
