import { type ExporterOptions, type FeedExporter, FieldPicker, recordOf } from './exporter.ts';

/** An XML document: one element an item, one a field; the values of a list are `value` elements. */
export class XmlExporter implements FeedExporter {
  readonly #picker: FieldPicker;
  readonly #isLatin1: boolean;
  readonly #root: string;
  readonly #element: string;
  readonly #lineEnd: string;
  /** Spaces for each level below the root. */
  readonly #step: string;

  constructor(options: ExporterOptions = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#isLatin1 = options.encoding === 'latin1';
    this.#root = options.rootElement ?? 'items';
    this.#element = options.itemElement ?? 'item';
    this.#lineEnd = options.indent === null ? '' : '\n';
    this.#step = ' '.repeat(options.indent ?? 0);
  }

  get leftOut(): ReadonlySet<string> {
    return this.#picker.leftOut;
  }

  start(): string {
    return `<?xml version="1.0" encoding="${this.#isLatin1 ? 'iso-8859-1' : 'utf-8'}"?>\n<${this.#root}>${this.#lineEnd}`;
  }

  /** What is kept ends with the last record, not with its line. */
  resume(): string {
    return this.#lineEnd;
  }

  item(item: unknown): string {
    const xml = this.#write(this.#element, recordOf(this.#picker.pick(item)), 1);
    return this.#isLatin1
      ? xml.replace(/[\u0100-\u{10ffff}]/gu, (character) => `&#${character.codePointAt(0)};`)
      : xml;
  }

  finish(): string {
    return `</${this.#root}>\n`;
  }

  #write(name: string, value: unknown, depth: number): string {
    const margin = this.#step.repeat(depth);
    const lineEnd = this.#step !== '' || depth === 1 ? this.#lineEnd : '';
    const open = isName(name) ? name : `field name="${escapeXml(name)}"`;
    const close = isName(name) ? name : 'field';
    const children = childrenOf(value);
    if (children === undefined) return `${margin}<${open}>${textOf(value)}</${close}>${lineEnd}`;
    const inner = children.map(([child, its]) => this.#write(child, its, depth + 1)).join('');
    const isBroken = this.#step !== '' && inner !== '';
    return `${margin}<${open}>${isBroken ? '\n' : ''}${inner}${isBroken ? margin : ''}</${close}>${lineEnd}`;
  }
}

function childrenOf(value: unknown): [string, unknown][] | undefined {
  if (Array.isArray(value)) return value.map((one) => ['value', one]);
  if (typeof value !== 'object' || value === null || value instanceof Date) return undefined;
  const fields =
    'toJSON' in value && typeof value.toJSON === 'function' ? (value.toJSON() as unknown) : value;
  return typeof fields === 'object' && fields !== null ? Object.entries(fields) : undefined;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`a ${typeof value} has no XML form`);
  // A date or a URL; objects whose JSON form is an object do not come here.
  const text: unknown = typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value;
  return escapeXml(String(text as string | number | boolean | bigint));
}

function isName(name: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name);
}

/** Escapes text; what XML 1.0 cannot hold at all becomes U+FFFD. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{Cc}\t\n\r\u007f-\u009f]|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"\r]/g, (character) => ESCAPES[character as keyof typeof ESCAPES]);
}

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };
