import { DomHandler } from 'domhandler';
import { Parser } from 'htmlparser2';

import type { LimitName, TreeLimits } from './limits.ts';
import { PageTree } from './page-tree.ts';

/** Characters that are parsed between two looks at the clock. Few: the parser looks through all that is open for each end tag. */
const chunkLength = 8192;

/** An XML document as a tree of domhandler nodes, by htmlparser2. What is beyond the limits is left out. */
export function buildXmlTree(text: string, limits: TreeLimits): PageTree {
  const handler = new LimitedHandler(limits);
  const parser = new Parser(handler, { xmlMode: true });
  const since = performance.now();
  for (let at = 0; at < text.length && !handler.isFull; at += chunkLength) {
    if (at > 0 && performance.now() - since > limits.timeMs) handler.met.add('PARSE_TIMEOUT');
    else parser.write(text.slice(at, at + chunkLength));
  }
  parser.end();
  for (const name of handler.met) limits.onLimit?.(name);
  return handler.tree;
}

class LimitedHandler extends DomHandler {
  readonly met = new Set<LimitName>();
  readonly tree: PageTree;
  readonly #limits: TreeLimits;
  #depth = 0;
  #nodes = 0;

  constructor(limits: TreeLimits) {
    super(undefined, { xmlMode: true });
    this.#limits = limits;
    this.tree = new PageTree(limits);
    this.root = this.tree;
    this.tagStack = [this.tree];
  }

  /** True if no more of the document is wanted. */
  get isFull(): boolean {
    return this.met.has('HTML_MAX_NODES') || this.met.has('PARSE_TIMEOUT');
  }

  override onopentag(name: string, attribs: Record<string, string>): void {
    if (!this.isFull) {
      super.onopentag(name, attribs);
      // Too deep to hold anything: what follows stands beside it.
      if (this.#depth >= this.#limits.depth) {
        super.onclosetag();
        this.met.add('HTML_MAX_DEPTH');
      }
    }
    this.#depth++;
  }

  onattribute(): void {
    if (++this.#nodes >= this.#limits.nodes) this.met.add('HTML_MAX_NODES');
  }

  override onclosetag(): void {
    this.#depth--;
    if (this.#depth < this.#limits.depth && !this.isFull) super.onclosetag();
    this.lastNode = null;
  }

  protected override addNode(node: Parameters<DomHandler['addNode']>[0]): void {
    if (this.isFull) return;
    super.addNode(node);
    if (++this.#nodes >= this.#limits.nodes) this.met.add('HTML_MAX_NODES');
  }
}
