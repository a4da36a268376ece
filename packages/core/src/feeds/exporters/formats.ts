import { CsvExporter } from './csv.ts';
import type { FeedExporterClass } from './exporter.ts';
import { JsonExporter } from './json.ts';
import { JsonLinesExporter } from './jsonlines.ts';
import { ParquetExporter } from './parquet.ts';
import { XmlExporter } from './xml.ts';

/** The formats there are without `FEED_EXPORTERS`. */
export const baseExporters: Readonly<Record<string, FeedExporterClass>> = {
  json: JsonExporter,
  jsonlines: JsonLinesExporter,
  jsonl: JsonLinesExporter,
  jl: JsonLinesExporter,
  csv: CsvExporter,
  xml: XmlExporter,
  parquet: ParquetExporter,
};
