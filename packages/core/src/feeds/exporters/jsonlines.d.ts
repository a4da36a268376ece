import { type ExporterOptions, type FeedExporter } from './exporter.ts';
/** One JSON document a line. */
export declare class JsonLinesExporter implements FeedExporter {
  #private;
  constructor(options?: ExporterOptions);
  get leftOut(): ReadonlySet<string>;
  start(): string;
  resume(): string;
  item(item: unknown): string;
  finish(): string;
}
//# sourceMappingURL=jsonlines.d.ts.map
