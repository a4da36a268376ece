import { type ExporterOptions, type FeedExporter } from './exporter.ts';
/** An XML document: one element an item, one a field; the values of a list are `value` elements. */
export declare class XmlExporter implements FeedExporter {
  #private;
  constructor(options?: ExporterOptions);
  get leftOut(): ReadonlySet<string>;
  start(): string;
  resume(): string;
  item(item: unknown): string;
  finish(): string;
}
//# sourceMappingURL=xml.d.ts.map
