// Builds the tree that htmlparser2's parseDocument builds, in a third of its time: it jumps from tag to tag instead of
// looking at each character. What the tree looks like is htmlparser2's choice in every case but the depth, and tests
// compare them. Every step moves on in the page, and nothing looks back further than the depth: time is linear.
import { Comment, Element, type ParentNode, ProcessingInstruction, Text } from 'domhandler';
import { decodeHTML, decodeHTMLAttribute } from 'entities';

import { defaultLimits, type LimitName, type TreeLimits } from './limits.ts';
import { PageTree } from './page-tree.ts';
import { type TagName, tagName } from './tag-names.ts';

/** Nodes between two looks at the clock. */
const betweenLooks = 10_000;

const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 9 || c === 12 || c === 13;
const isLetter = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90);
const text = (raw: string): string => (raw.includes('&') ? decodeHTML(raw) : raw);
const attribute = (raw: string): string => (raw.includes('&') ? decodeHTMLAttribute(raw) : raw);

/** A page as a tree of domhandler nodes. Never throws: what is beyond the limits is left out. */
export function buildTree(html: string, limits: TreeLimits = defaultLimits): PageTree {
  return new TreeBuilder(html, limits).build();
}

class TreeBuilder {
  readonly #all: Element[] = [];
  readonly #byName = new Map<string, Element[]>();
  readonly #html: string;
  readonly #limits: TreeLimits;
  readonly #root: PageTree;
  #open: ParentNode;
  #depth = 0;
  /** Elements that are open but too deep to hold anything; undefined in nearly every page. */
  #beyond: OpenBeyond | undefined;
  #nodes = 0;
  /** Number of nodes at which something is to be checked. */
  #nextLook: number;
  #since = 0;
  #met: LimitName | undefined;
  /** Text that text may be added to. */
  #text: Text | undefined;
  readonly #foreign = [false];

  constructor(html: string, limits: TreeLimits) {
    this.#html = html;
    this.#limits = limits;
    this.#root = new PageTree(limits);
    this.#open = this.#root;
    this.#nextLook = Math.min(betweenLooks, limits.nodes);
  }

  build(): PageTree {
    const html = this.#html;
    const end = html.length;
    // Where text begins that has not been added yet, and where to look for the next tag.
    let from = 0;
    let at = html.indexOf('<');
    while (at >= 0) {
      if (this.#nodes >= this.#nextLook && this.#isOver()) {
        from = end;
        break;
      }
      const c = at + 1 < end ? html.charCodeAt(at + 1) : 0;
      let next: number;
      if (isLetter(c)) {
        this.#addText(from, at);
        next = this.#tag(at + 1);
      } else if (c === 47) {
        next = this.#closingTag(from, at);
      } else if (c === 33) {
        this.#addText(from, at);
        next = this.#declaration(at + 2);
      } else if (c === 63) {
        this.#addText(from, at);
        next = this.#instruction(at + 2);
      } else {
        // A < that begins nothing is text.
        at = html.indexOf('<', at + 1);
        continue;
      }
      if (next === isText) {
        at = html.indexOf('<', at + 2);
        continue;
      }
      from = next;
      at = html.indexOf('<', next);
    }
    this.#addText(from, end);
    this.#root.index = { all: this.#all, byName: this.#byName };
    const { onLimit } = this.#limits;
    if (this.#met !== undefined) onLimit?.(this.#met);
    if (this.#beyond !== undefined) onLimit?.('HTML_MAX_DEPTH');
    return this.#root;
  }

  /** True if the tree has grown or taken as much as it may. */
  #isOver(): boolean {
    const { nodes, timeMs } = this.#limits;
    if (this.#nodes >= nodes) this.#met = 'HTML_MAX_NODES';
    else if (this.#since === 0) this.#since = performance.now();
    else if (performance.now() - this.#since > timeMs) this.#met = 'PARSE_TIMEOUT';
    this.#nextLook = Math.min(this.#nodes + betweenLooks, nodes);
    return this.#met !== undefined;
  }

  #addText(from: number, to: number): void {
    if (from >= to) return;
    this.#appendText(text(this.#html.slice(from, to)));
  }

  #appendText(data: string): void {
    if (this.#text !== undefined) {
      this.#text.data += data;
      return;
    }
    const node = new Text(data);
    this.#add(node);
    this.#text = node;
  }

  #add(node: Text | Comment | Element | ProcessingInstruction): void {
    const { children } = this.#open;
    const before = children.at(-1);
    if (before !== undefined) {
      node.prev = before;
      before.next = node;
    }
    node.parent = this.#open;
    children.push(node);
    this.#nodes++;
    this.#text = undefined;
  }

  /** An opening tag whose name begins at `start`; where it ends. One that does not end is nothing. */
  #tag(start: number): number {
    const html = this.#html;
    const end = html.length;
    let i = start + 1;
    let c = 0;
    let hash = html.charCodeAt(start);
    while (i < end && (c = html.charCodeAt(i)) !== 62 && c !== 47 && !isSpace(c)) {
      hash = (hash * 31 + c) | 0;
      i++;
    }
    const name = tagName(html, start, i, hash);
    const attribs: Record<string, string> = {};
    let isSelfClosing = false;
    let isFirst = true;
    for (;;) {
      while (i < end && isSpace((c = html.charCodeAt(i)))) i++;
      if (i >= end) return end;
      if (c === 62) break;
      if (c === 47) {
        i++;
        while (i < end && isSpace(html.charCodeAt(i))) i++;
        if (i < end && html.charCodeAt(i) === 62) {
          isSelfClosing = true;
          break;
        }
        continue;
      }
      const nameStart = i++;
      hash = c;
      while (i < end && (c = html.charCodeAt(i)) !== 61 && c !== 62 && c !== 47 && !isSpace(c)) {
        hash = (hash * 31 + c) | 0;
        i++;
      }
      const key = tagName(html, nameStart, i, hash).name;
      while (i < end && isSpace((c = html.charCodeAt(i)))) i++;
      if (i >= end) return end;
      let value = '';
      if (c === 61) {
        i++;
        while (i < end && isSpace((c = html.charCodeAt(i)))) i++;
        if (i >= end) return end;
        if (c === 34 || c === 39) {
          const close = html.indexOf(c === 34 ? '"' : "'", i + 1);
          if (close < 0) return end;
          value = attribute(html.slice(i + 1, close));
          i = close + 1;
        } else {
          const valueStart = i;
          while (i < end && (c = html.charCodeAt(i)) !== 62 && !isSpace(c)) i++;
          if (i >= end) return end;
          value = attribute(html.slice(valueStart, i));
        }
      }
      // The first of a name counts.
      if (isFirst || !Object.hasOwn(attribs, key)) attribs[key] = value;
      isFirst = false;
      if (++this.#nodes >= this.#nextLook && this.#isOver()) return end;
    }
    i++;
    this.#openElement(name, attribs, isSelfClosing);
    if (!isSelfClosing && name.isRawText) return this.#rawText(name.name, i);
    return i;
  }

  #openElement(tag: TagName, attribs: Record<string, string>, isSelfClosing: boolean): void {
    const { name, implied } = tag;
    if (implied !== undefined) {
      this.#beyond?.closeImplied(implied);
      // What is open beyond stands between this tag and the elements of the tree.
      if (!this.#beyond?.isOpen) {
        while (this.#open !== this.#root && implied.has((this.#open as Element).name))
          this.#close();
      }
    }
    const element = new Element(name, attribs);
    this.#all.push(element);
    const namesakes = this.#byName.get(name);
    if (namesakes === undefined) this.#byName.set(name, [element]);
    else namesakes.push(element);
    if (tag.isVoid) {
      this.#add(element);
      return;
    }
    if (tag.isForeign) this.#foreign.push(true);
    else if (tag.isIntegration) this.#foreign.push(false);
    this.#add(element);
    if (isSelfClosing && this.#foreign.at(-1) === true) return;
    if (this.#depth >= this.#limits.depth) {
      (this.#beyond ??= new OpenBeyond()).open(name);
      return;
    }
    this.#depth++;
    this.#open = element;
  }

  #close(): void {
    this.#open = this.#open.parent as ParentNode;
    this.#depth--;
    this.#text = undefined;
  }

  /** What follows `</`; `from` is where the text before it begins. */
  #closingTag(from: number, lt: number): number {
    const html = this.#html;
    const end = html.length;
    let i = lt + 2;
    let c = 0;
    while (i < end && isSpace((c = html.charCodeAt(i)))) i++;
    if (i >= end || c === 62) return isText;
    this.#addText(from, lt);
    if (!isLetter(c)) {
      const close = html.indexOf('>', i);
      if (close < 0) {
        this.#appendText(html.slice(i));
        return end;
      }
      this.#comment(html.slice(i, close));
      return close + 1;
    }
    const start = i;
    let hash = 0;
    while (i < end && (c = html.charCodeAt(i)) !== 62 && !isSpace(c)) {
      hash = (hash * 31 + c) | 0;
      i++;
    }
    if (i >= end) return end;
    this.#closeElement(tagName(html, start, i, hash));
    const close = html.indexOf('>', i);
    return close < 0 ? end : close + 1;
  }

  #closeElement(tag: TagName): void {
    const { name } = tag;
    if (tag.isForeign || tag.isIntegration) this.#foreign.pop();
    if (tag.isVoid) {
      if (name === 'br') this.#openElement(tag, {}, false);
      return;
    }
    if (this.#beyond?.close(name)) {
      this.#text = undefined;
      return;
    }
    let up: ParentNode = this.#open;
    while (up !== this.#root && (up as Element).name !== name) up = up.parent as ParentNode;
    if (up !== this.#root) {
      this.#beyond?.clear();
      while (this.#open !== up) this.#close();
      this.#close();
      return;
    }
    // It has looked through all that is open, so it counts.
    this.#nodes++;
    if (name === 'p') {
      this.#openElement(tag, {}, false);
      this.#close();
    }
  }

  /** Text up to the end tag of `name`. */
  #rawText(name: string, start: number): number {
    const html = this.#html;
    let at = html.indexOf('</', start);
    for (; at >= 0; at = html.indexOf('</', at + 1)) {
      const after = at + 2 + name.length;
      const c = after < html.length ? html.charCodeAt(after) : 0;
      if ((c === 62 || isSpace(c)) && html.slice(at + 2, after).toLowerCase() === name) break;
    }
    const stop = at < 0 ? html.length : at;
    if (stop > start) {
      const raw = html.slice(start, stop);
      this.#appendText(name === 'title' ? text(raw) : raw);
    }
    return stop;
  }

  #comment(data: string): void {
    this.#add(new Comment(data));
  }

  /** What follows `<!`: a comment, a CDATA section, a doctype. */
  #declaration(start: number): number {
    const html = this.#html;
    if (html.startsWith('--', start)) {
      // The dashes that open it may be those that end it.
      const close = html.indexOf('-->', start);
      this.#comment(
        close < 0 ? html.slice(start + 2) : html.slice(start + 2, Math.max(close, start + 2)),
      );
      return close < 0 ? html.length : close + 3;
    }
    if (html.startsWith('[CDATA[', start)) {
      const close = html.indexOf(']]>', start + 7);
      this.#comment(`[CDATA[${html.slice(start + 7, close < 0 ? undefined : close)}]]`);
      return close < 0 ? html.length : close + 3;
    }
    return this.#instruction(start, '!', start + 1);
  }

  #instruction(start: number, mark = '?', searchFrom: number = start): number {
    const html = this.#html;
    const close = html.indexOf('>', searchFrom);
    if (close < 0) {
      if (start < html.length) this.#appendText(text(html.slice(start)));
      return html.length;
    }
    const value = html.slice(start, close);
    const nameEnd = value.search(/\s|\//);
    const name = nameEnd < 0 ? value : value.slice(0, nameEnd);
    this.#add(new ProcessingInstruction(`${mark}${name.toLowerCase()}`, `${mark}${value}`));
    return close + 1;
  }
}

/** Names of the elements that are open below the deepest of the tree. */
class OpenBeyond {
  readonly #names: string[] = [];
  /** How many of each, so that an end tag without its element is known without a search. */
  readonly #counts = new Map<string, number>();

  get isOpen(): boolean {
    return this.#names.length > 0;
  }

  open(name: string): void {
    this.#names.push(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  closeImplied(names: ReadonlySet<string>): void {
    while (names.has(this.#names.at(-1) ?? '')) this.#pop();
  }

  /** False if no such element is open here. */
  close(name: string): boolean {
    if (!this.#counts.get(name)) return false;
    while (this.#pop() !== name);
    return true;
  }

  clear(): void {
    this.#names.length = 0;
    this.#counts.clear();
  }

  #pop(): string {
    const name = this.#names.pop()!;
    this.#counts.set(name, this.#counts.get(name)! - 1);
    return name;
  }
}

/** Says that a `<` was no tag. */
const isText = -1;
