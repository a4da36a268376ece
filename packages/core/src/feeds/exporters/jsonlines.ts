import {
  type ExporterOptions,
  type FeedExporter,
  FieldPicker,
  jsonLatin1,
  jsonOf,
} from './exporter.ts';

/** One JSON document a line. */
export class JsonLinesExporter implements FeedExporter {
  readonly #picker: FieldPicker;
  readonly #isLatin1: boolean;

  constructor(options: ExporterOptions = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#isLatin1 = options.encoding === 'latin1';
  }

  get leftOut(): ReadonlySet<string> {
    return this.#picker.leftOut;
  }

  start(): string {
    return '';
  }

  resume(): string {
    return '';
  }

  item(item: unknown): string {
    const json = jsonOf(this.#picker.pick(item));
    return `${this.#isLatin1 ? jsonLatin1(json) : json}\n`;
  }

  finish(): string {
    return '';
  }
}
