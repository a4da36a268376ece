import { FieldPicker, jsonLatin1, jsonOf } from './exporter.js';
/** One JSON document a line. */
export class JsonLinesExporter {
  #picker;
  #isLatin1;
  constructor(options = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#isLatin1 = options.encoding === 'latin1';
  }
  get leftOut() {
    return this.#picker.leftOut;
  }
  start() {
    return '';
  }
  resume() {
    return '';
  }
  item(item) {
    const json = jsonOf(this.#picker.pick(item));
    return `${this.#isLatin1 ? jsonLatin1(json) : json}\n`;
  }
  finish() {
    return '';
  }
}
//# sourceMappingURL=jsonlines.js.map
