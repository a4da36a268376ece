import {
  type ExporterOptions,
  type FeedExporter,
  FieldPicker,
  jsonLatin1,
  jsonOf,
  type KeptRecords,
} from './exporter.ts';

/** One JSON array of all items. */
export class JsonExporter implements FeedExporter {
  readonly #picker: FieldPicker;
  readonly #isLatin1: boolean;
  readonly #indent: number;
  readonly #lineEnd: string;
  #isFirst = true;

  constructor(options: ExporterOptions = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#isLatin1 = options.encoding === 'latin1';
    this.#indent = options.indent ?? 0;
    this.#lineEnd = options.indent === null ? '' : '\n';
  }

  get leftOut(): ReadonlySet<string> {
    return this.#picker.leftOut;
  }

  start(): string {
    return '[';
  }

  resume(kept: KeptRecords): string {
    this.#isFirst = kept.records === 0;
    return '';
  }

  item(item: unknown): string {
    const json = jsonOf(this.#picker.pick(item), this.#indent);
    const before = this.#isFirst ? '' : ',';
    this.#isFirst = false;
    return before + this.#lineEnd + (this.#isLatin1 ? jsonLatin1(json) : json);
  }

  finish(): string {
    return `${this.#isFirst ? '' : this.#lineEnd}]\n`;
  }
}
