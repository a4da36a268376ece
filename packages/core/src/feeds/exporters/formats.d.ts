import type { FeedExporterClass } from './exporter.ts';
/** The formats there are without `FEED_EXPORTERS`. */
export declare const baseExporters: Readonly<Record<string, FeedExporterClass>>;
//# sourceMappingURL=formats.d.ts.map
