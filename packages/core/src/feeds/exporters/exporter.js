/** Chooses, orders and renames the fields of items. */
export class FieldPicker {
  leftOut = new Set();
  #names;
  constructor(fields) {
    if (fields)
      this.#names = new Map(
        Array.isArray(fields) ? fields.map((name) => [name, name]) : Object.entries(fields),
      );
  }
  /** Names in the output, if they are fixed. */
  get columns() {
    return this.#names && [...this.#names.values()];
  }
  /** The item as it is to be written: the item itself where no fields are chosen. */
  pick(item) {
    if (this.#names === undefined) return item;
    const source = recordOf(item);
    const picked = Object.create(null);
    for (const [name, output] of this.#names) {
      if (Object.hasOwn(source, name)) picked[output] = source[name];
    }
    for (const name of Object.keys(source)) {
      if (!this.#names.has(name)) this.leftOut.add(name);
    }
    return picked;
  }
}
/**
 * The item as fields.
 *
 * @throws TypeError for what has no fields.
 */
export function recordOf(item) {
  const value = hasToJson(item) ? item.toJSON() : item;
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(
      `an item is an object with fields, got ${value === null ? 'null' : typeof value}`,
    );
  }
  // Any object can be read by the names of its own fields.
  return value;
}
/**
 * JSON of a value.
 *
 * @throws TypeError for what has no JSON: a function, a bigint, a circle.
 */
export function jsonOf(value, indent) {
  const json = JSON.stringify(value, undefined, indent);
  if (json === undefined) throw new TypeError(`a ${typeof value} has no JSON form`);
  return json;
}
/** Escapes in JSON what latin1 does not have. */
export function jsonLatin1(json) {
  return json.replace(
    /[\u0100-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
function hasToJson(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    'toJSON' in value &&
    typeof value.toJSON === 'function'
  );
}
//# sourceMappingURL=exporter.js.map
