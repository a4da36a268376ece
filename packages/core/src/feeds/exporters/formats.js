import { CsvExporter } from './csv.js';
import { JsonExporter } from './json.js';
import { JsonLinesExporter } from './jsonlines.js';
import { XmlExporter } from './xml.js';
/** The formats there are without `FEED_EXPORTERS`. */
export const baseExporters = {
  json: JsonExporter,
  jsonlines: JsonLinesExporter,
  jsonl: JsonLinesExporter,
  jl: JsonLinesExporter,
  csv: CsvExporter,
  xml: XmlExporter,
};
//# sourceMappingURL=formats.js.map
