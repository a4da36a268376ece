/** Elements by hand. Text is only ever text: nothing here, and nothing in the page, parses HTML. */

type Child = Node | string | undefined | false;
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const svgNamespace = 'http://www.w3.org/2000/svg';

/** `h('a', { href: '#/' }, 'Home')`; `true` writes an empty attribute, `false` and `undefined` none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

function fill<E extends Element>(
  element: E,
  attributes: Attributes,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Writes only what differs: a selection in what stays the same is kept. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: Attributes[string]): void {
  if (value === undefined || value === false) element.removeAttribute(name);
  else {
    const text = value === true ? '' : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

export function button(
  label: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** Something that shows one thing, and another state of it later. */
export interface Shows<T> {
  readonly element: Element;
  update(value: T): void;
}

/** The children of an element, one for each value: those that stay are kept, with focus and selection in them. */
export class List<T> {
  readonly #parent: Element;
  readonly #create: (value: T) => Shows<T>;
  #shown = new Map<string, Shows<T>>();

  constructor(parent: Element, create: (value: T) => Shows<T>) {
    this.#parent = parent;
    this.#create = create;
  }

  update(values: readonly (readonly [key: string, value: T])[]): void {
    const before = this.#shown;
    this.#shown = new Map();
    const focused = document.activeElement;
    let next = this.#parent.firstElementChild;
    for (const [key, value] of values) {
      const one = before.get(key) ?? this.#create(value);
      before.delete(key);
      one.update(value);
      this.#shown.set(key, one);
      if (one.element === next) next = next.nextElementSibling;
      else this.#parent.insertBefore(one.element, next);
    }
    for (const { element } of before.values()) element.remove();
    // What was moved has lost it.
    if (focused instanceof HTMLElement && focused.isConnected && document.activeElement !== focused)
      focused.focus({ preventScroll: true });
  }
}
