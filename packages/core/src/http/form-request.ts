import { type AnyNode, type Element, isTag } from 'domhandler';

import { UsageError } from '../errors.ts';
import { nextNode, textBelow } from '../selector/walk.ts';
import { encode } from './encoder.ts';
import { Request, type RequestOptions } from './request.ts';
import type { Response } from './response.ts';
import { resolveUrl, trimHtml } from './url.ts';

type FieldValue = string | readonly string[] | null | undefined;
/** Fields and their values: a map, where a list sends a field several times, or pairs in their order. */
export type FormData =
  | Readonly<Record<string, FieldValue>>
  | readonly (readonly [string, FieldValue])[];

export interface FormRequestOptions extends RequestOptions {
  /** Sent as the query of a GET, else as an urlencoded body. The method is POST, unless it is given. */
  formdata?: FormData;
  /** Charset that the form is sent in: UTF-8 by default, that of the page with `fromResponse`. */
  encoding?: string;
}

export interface FormOptions extends FormRequestOptions {
  /** Where to send it, instead of the `action` of the form. */
  url?: string;
  /** `name` of the form; one that no form has falls back to `formnumber`. */
  formname?: string;
  /** `id` of the form; one that no form has falls back to `formnumber`. */
  formid?: string;
  /** Which form of the page, from 0. */
  formnumber?: number;
  /** A CSS selector of the form, or of something inside of it. */
  formcss?: string;
  /** The same by XPath. */
  formxpath?: string;
  /** Attributes of the button to click; `nr` counts the buttons from 0. The first one by default. */
  clickdata?: Readonly<Record<string, string | number>>;
  /** Clicks no button. */
  dontClick?: boolean;
}

type Field = readonly [name: string, value: string];

/** A request that sends a form. */
export class FormRequest extends Request {
  constructor(url: string, options: FormRequestOptions = {}) {
    const { formdata, encoding = 'utf-8', ...rest } = options;
    if (formdata === undefined) {
      super(url, rest);
      return;
    }
    const fields = fieldsOf(formdata);
    const method = (rest.method ?? 'POST').toUpperCase();
    const query = fields
      .map((field) => field.map((text) => urlEncoded(text, encoding)).join('='))
      .join('&');
    if (fields.length === 0) {
      super(url, { ...rest, method });
    } else if (method === 'GET') {
      super(withQuery(url, query), { ...rest, method });
    } else {
      super(url, { ...rest, method, body: query });
      this.headers.setDefault('content-type', 'application/x-www-form-urlencoded');
    }
  }

  /** As of any request; new `formdata` takes the place of the body. */
  override replace(changes: FormRequestOptions & { url?: string }): Request {
    return super.replace(
      changes.formdata === undefined ? changes : { body: undefined, ...changes },
    );
  }

  /**
   * The request that a browser would send for a form of the page: its fields as they are filled in, `formdata` over
   * them, and the button that is clicked.
   *
   * @throws UsageError when there is no such form or button, or more than one button fits.
   */
  static fromResponse(response: Response, options: FormOptions = {}): FormRequest {
    const { formname, formid, formnumber, formcss, formxpath, clickdata, dontClick, url, ...rest } =
      options;
    const form = findForm(response, { formname, formid, formnumber, formcss, formxpath });
    const changed = fieldsOf(options.formdata ?? {});
    const names = new Set(
      options.formdata === undefined
        ? []
        : Array.isArray(options.formdata)
          ? options.formdata.map(([name]: readonly [string, FieldValue]) => name)
          : Object.keys(options.formdata),
    );
    const controls = controlsOf(form);
    const fields = controls.flatMap(valuesOf).filter(([name]) => !names.has(name));
    const button = dontClick ? undefined : clicked(controls, clickdata, form, response);
    if (button !== undefined && !names.has(button[0])) fields.push(button);
    const wanted = (rest.method ?? form.attribs.method ?? '').trim().toUpperCase();
    return new FormRequest(targetOf(form, response, url), {
      encoding: response.encoding,
      ...rest,
      method: rest.method ?? (wanted === 'POST' ? 'POST' : 'GET'),
      formdata: [...fields, ...changed],
    });
  }
}

/** As browsers send a form: https://url.spec.whatwg.org/#urlencoded-serializing */
function urlEncoded(text: string, charset: string): string {
  const bytes =
    encode(text.toWellFormed(), charset, (char) => `&#${char.codePointAt(0)};`) ??
    Buffer.from(text.toWellFormed());
  return bytes
    .toString('latin1')
    .replace(/[^\w*.-]/g, (char) =>
      char === ' ' ? '+' : `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}

function withQuery(url: string, query: string): string {
  const [before = ''] = url.split('#', 1);
  return `${before.split('?', 1)[0]}?${query}`;
}

function fieldsOf(formdata: FormData): Field[] {
  if (typeof formdata !== 'object' || formdata === null) {
    throw new UsageError('formdata must be an object of fields and values, or a list of pairs.');
  }
  const pairs = Array.isArray(formdata)
    ? (formdata as readonly (readonly [string, FieldValue])[])
    : Object.entries(formdata);
  return pairs.flatMap(([name, value]): Field[] => {
    if (value === null || value === undefined) return [];
    return Array.isArray(value)
      ? (value as readonly string[]).map((one): Field => [name, String(one)])
      : [[name, String(value)]];
  });
}

function targetOf(form: Element, response: Response, url: string | undefined): string {
  const action = trimHtml(url ?? form.attribs.action ?? '');
  const target = action === '' && url === undefined ? undefined : action;
  const resolved =
    target === undefined && form.attribs.action === undefined
      ? response.baseUrl
      : resolveUrl(target ?? '', response.baseUrl, response);
  if (resolved !== undefined) return resolved;
  throw new UsageError(`The form on ${response.url} is sent to ${action}, which is no URL.`);
}

function elementsBelow(root: AnyNode): Element[] {
  const found: Element[] = [];
  for (let node: AnyNode | null = root; node !== null; node = nextNode(node, root)) {
    if (isTag(node)) found.push(node);
  }
  return found;
}

function findForm(
  response: Response,
  { formname, formid, formnumber = 0, formcss, formxpath }: FormOptions,
): Element {
  const forms = elementsBelow(response.tree).filter(({ name }) => name === 'form');
  if (forms.length === 0) throw new UsageError(`There is no form on ${response.url}.`);
  const named =
    forms.find(({ attribs }) => formname !== undefined && attribs.name === formname) ??
    forms.find(({ attribs }) => formid !== undefined && attribs.id === formid);
  if (named !== undefined) return named;
  const query = formcss ?? formxpath;
  if (query !== undefined) {
    const found = formcss === undefined ? response.xpath(query) : response.css(query);
    let node: AnyNode | null | undefined = found.at(0)?.node;
    while (node && !(isTag(node) && node.name === 'form')) node = node.parent;
    if (node) return node as Element;
    throw new UsageError(`No form on ${response.url} is found by ${JSON.stringify(query)}.`);
  }
  const form = forms[formnumber];
  if (form !== undefined) return form;
  throw new UsageError(
    `There is no form number ${formnumber} on ${response.url}: it has ${forms.length}, counted from 0.`,
  );
}

/** What belongs to a form: what is inside of it, and what names it in its `form` attribute. */
function controlsOf(form: Element): Element[] {
  let root: AnyNode = form;
  const { id } = form.attribs;
  if (id) while (root.parent !== null) root = root.parent;
  const inside = new Set(elementsBelow(form));
  return (id ? elementsBelow(root) : [...inside]).filter((element) => {
    if (!/^(?:input|select|textarea|button)$/.test(element.name)) return false;
    const owner = element.attribs.form;
    return owner === undefined ? inside.has(element) : owner === id;
  });
}

function valuesOf(element: Element): Field[] {
  const { attribs, name: tag } = element;
  const { name, value } = attribs;
  if (!name || 'disabled' in attribs || tag === 'button') return [];
  if (tag === 'textarea') {
    const text = textBelow(element);
    // White space alone is the indentation of the page: after `<textarea/>` it runs on.
    return [[name, text.trim() === '' ? '' : text]];
  }
  if (tag === 'select') return selected(element).map((option) => [name, option] as const);
  const type = (attribs.type ?? '').toLowerCase();
  if (/^(?:submit|image|reset|button)$/.test(type)) return [];
  // No file is chosen.
  if (type === 'file') return [[name, '']];
  if (type === 'checkbox' || type === 'radio') {
    return 'checked' in attribs ? [[name, value ?? 'on']] : [];
  }
  return [[name, value ?? '']];
}

function selected(select: Element): string[] {
  const options = elementsBelow(select).filter(({ name }) => name === 'option');
  const chosen = options.filter(({ attribs }) => 'selected' in attribs);
  const valueOf = (option: Element): string =>
    option.attribs.value ?? textBelow(option).replace(/\s+/g, ' ').trim();
  if ('multiple' in select.attribs) return chosen.map(valueOf);
  const one = chosen.at(-1) ?? options[0];
  return one === undefined ? [] : [valueOf(one)];
}

function clicked(
  controls: readonly Element[],
  clickdata: FormOptions['clickdata'],
  form: Element,
  response: Response,
): Field | undefined {
  const buttons = controls.filter(({ name, attribs }) =>
    name === 'input'
      ? /^(?:submit|image)$/i.test(attribs.type ?? '')
      : name === 'button' && /^submit$/i.test(attribs.type ?? 'submit'),
  );
  let found: Element | undefined = buttons[0];
  if (found === undefined) return undefined;
  if (clickdata !== undefined) {
    const { nr, ...attributes } = clickdata;
    found = nr === undefined ? undefined : buttons[Number(nr)];
    found ??= matching(elementsBelow(form), attributes, response);
  }
  const { name, value = '' } = found.attribs;
  return name === undefined ? undefined : [name, value];
}

function matching(
  elements: readonly Element[],
  attributes: Readonly<Record<string, string | number>>,
  response: Response,
): Element {
  const wanted = Object.entries(attributes);
  const found = elements.filter(
    ({ attribs }) =>
      wanted.length > 0 && wanted.every(([name, value]) => attribs[name] === String(value)),
  );
  if (found.length === 1) return found[0]!;
  throw new UsageError(
    `${found.length === 0 ? 'No button' : `${found.length} buttons`} of the form on ${response.url} fit clickdata ${JSON.stringify(attributes)}.`,
  );
}
