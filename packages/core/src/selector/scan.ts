import { type Handler, Parser } from 'htmlparser2';

/** An element that may be a link. */
export interface Anchor {
  readonly attribs: Readonly<Record<string, string>>;
  text: string;
}

/** The elements with one of these names, with their text, without a tree: that costs half of one. */
export function scanAnchors(page: string, isXml: boolean, names: ReadonlySet<string>): Anchor[] {
  const anchors: Anchor[] = [];
  const open: { readonly anchor: Anchor; readonly depth: number }[] = [];
  let depth = 0;
  let attributes: Record<string, string> | undefined;
  scan(page, isXml, {
    onopentagname(name) {
      depth++;
      attributes = undefined;
      if (!names.has(name)) return;
      attributes = Object.create(null) as Record<string, string>;
      const anchor: Anchor = { attribs: attributes, text: '' };
      anchors.push(anchor);
      open.push({ anchor, depth });
    },
    onattribute(name, value) {
      if (attributes !== undefined) attributes[name] ??= value;
    },
    ontext(data) {
      for (const { anchor } of open) anchor.text += data;
    },
    onclosetag() {
      if (open.at(-1)?.depth === depth) open.pop();
      depth--;
    },
  });
  return anchors;
}

/** Characters in which `<base>` is looked for: it belongs into the head. */
const headLength = 8192;

/** The `href` of the first `<base>` that has one and is not for browsers without scripts. */
export function scanBase(page: string): string | undefined {
  const head = page.slice(0, headLength);
  if (!/<base[\s/]/i.test(head)) return undefined;
  let found: string | undefined;
  let isBase = false;
  let noscripts = 0;
  scan(head, false, {
    onopentagname(name) {
      isBase = name === 'base' && noscripts === 0;
      if (name === 'noscript') noscripts++;
    },
    onattribute(name, value) {
      if (isBase && name === 'href') found ??= value;
    },
    onclosetag(name) {
      if (name === 'noscript') noscripts--;
    },
  });
  return found;
}

function scan(page: string, isXml: boolean, handler: Partial<Handler>): void {
  const parser = new Parser(handler, { xmlMode: isXml });
  parser.end(page);
}
