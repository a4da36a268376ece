import { type ExporterOptions, type FeedExporter, type KeptRecords } from './exporter.ts';
/** One JSON array of all items. */
export declare class JsonExporter implements FeedExporter {
  #private;
  constructor(options?: ExporterOptions);
  get leftOut(): ReadonlySet<string>;
  start(): string;
  resume(kept: KeptRecords): string;
  item(item: unknown): string;
  finish(): string;
}
//# sourceMappingURL=json.d.ts.map
