import {
  type ExporterOptions,
  type FeedExporter,
  type FeedPass,
  FieldPicker,
  jsonOf,
  type KeptRecords,
  recordOf,
} from './exporter.ts';
import { ParquetColumns } from './parquet-columns.ts';
import { loadParquet, parquetPass } from './parquet-file.ts';

/**
 * A Parquet file. Its part is lines of JSON, which a crash can tear but not spoil; they become columns when the feed is
 * complete, since only then it is known which there are and what they hold.
 */
export class ParquetExporter implements FeedExporter {
  readonly mayRewrite = true;
  readonly #picker: FieldPicker;
  readonly #columns: ParquetColumns;

  constructor(options: ExporterOptions = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#columns = new ParquetColumns(this.#picker.columns);
  }

  get leftOut(): ReadonlySet<string> {
    return this.#picker.leftOut;
  }

  async load(): Promise<void> {
    await loadParquet();
  }

  start(): string {
    return '';
  }

  resume({ types }: KeptRecords): string {
    if (types) this.#columns.continue(types);
    return '';
  }

  item(item: unknown): string {
    const json = jsonOf(this.#picker.pick(recordOf(item)));
    this.#columns.add(json);
    return `${ascii(json)}\n`;
  }

  finish(): string {
    return '';
  }

  rewrite(): FeedPass {
    return parquetPass(this.#columns.types);
  }
}

/** JSON that reads the same in every encoding a feed may have. */
function ascii(json: string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
