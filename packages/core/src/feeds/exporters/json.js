import { FieldPicker, jsonLatin1, jsonOf } from './exporter.js';
/** One JSON array of all items. */
export class JsonExporter {
  #picker;
  #isLatin1;
  #indent;
  #lineEnd;
  #isFirst = true;
  constructor(options = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#isLatin1 = options.encoding === 'latin1';
    this.#indent = options.indent ?? 0;
    this.#lineEnd = options.indent === null ? '' : '\n';
  }
  get leftOut() {
    return this.#picker.leftOut;
  }
  start() {
    return '[';
  }
  resume(kept) {
    this.#isFirst = kept.records === 0;
    return '';
  }
  item(item) {
    const json = jsonOf(this.#picker.pick(item), this.#indent);
    const before = this.#isFirst ? '' : ',';
    this.#isFirst = false;
    return before + this.#lineEnd + (this.#isLatin1 ? jsonLatin1(json) : json);
  }
  finish() {
    return `${this.#isFirst ? '' : this.#lineEnd}]\n`;
  }
}
//# sourceMappingURL=json.js.map
