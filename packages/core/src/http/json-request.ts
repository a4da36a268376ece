import { UsageError } from '../errors.ts';
import { Request, type RequestOptions } from './request.ts';

export interface JsonRequestOptions extends RequestOptions {
  /** What is sent as JSON. The method is POST then, unless it is given. */
  data?: unknown;
  /** Writes `data`; `JSON.stringify` by default. */
  dumps?: (data: unknown) => string;
}

/** A request with a JSON body, and the headers that such a request has. */
export class JsonRequest extends Request {
  /** @throws UsageError when both `data` and `body` are given, or `data` is nothing that JSON knows. */
  constructor(url: string, options: JsonRequestOptions = {}) {
    const { data, dumps = JSON.stringify, ...rest } = options;
    if (data !== undefined) {
      if (rest.body !== undefined) {
        throw new UsageError('A JsonRequest takes data or body, not both.');
      }
      const body = dumps(data) as string | undefined;
      if (body === undefined) {
        throw new UsageError(`The data of ${url} cannot be written as JSON: it is ${typeof data}.`);
      }
      rest.body = body;
      rest.method ??= 'POST';
    }
    super(url, rest);
    this.headers
      .setDefault('content-type', 'application/json')
      .setDefault('accept', 'application/json, text/javascript, */*; q=0.01');
  }

  /** As of any request; new `data` takes the place of the body. */
  override replace(changes: JsonRequestOptions & { url?: string }): Request {
    return super.replace(changes.data === undefined ? changes : { body: undefined, ...changes });
  }
}
