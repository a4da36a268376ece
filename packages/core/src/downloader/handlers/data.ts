import { DownloadFailedError } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import type { DownloadHandler } from './handler.ts';

/**
 * `data:` URLs: the body is in the URL.
 *
 * @see {@link https://fetch.spec.whatwg.org/#data-url-processor | Fetch: data: URL processor}
 */
export class DataHandler implements DownloadHandler {
  // oxlint-disable-next-line typescript/require-await -- a fault of the URL rejects, it does not throw
  async download(request: Request): Promise<Response> {
    const { url } = request;
    const hash = url.indexOf('#');
    const end = hash < 0 ? url.length : hash;
    const comma = url.indexOf(',');
    if (comma < 0 || comma > end)
      throw new DownloadFailedError(`${url.slice(0, 80)} is not a data URL: it has no comma.`);
    const head = url.slice(url.indexOf(':') + 1, comma).trim();
    const type = head.replace(/; *base64$/i, '');
    const bytes = unescape(url.slice(comma + 1, end));
    const body = type === head ? Buffer.from(bytes, 'latin1') : fromBase64(bytes);
    if (body === undefined)
      throw new DownloadFailedError(`${url.slice(0, 80)} is not a data URL: its base64 is broken.`);
    return createResponse(url, { headers: { 'Content-Type': contentType(type) }, body });
  }
}

/** Percent escapes to bytes, as Latin-1 text; a bad escape stays as it is. */
function unescape(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
}

/** White space does not count, padding may be missing; undefined for anything else that is no base64. */
function fromBase64(text: string): Buffer | undefined {
  const bare = text.replace(/[\t\n\f\r ]+/g, '');
  const digits = bare.length % 4 === 0 ? bare.replace(/={1,2}$/, '') : bare;
  if (digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) return undefined;
  return Buffer.from(digits, 'base64');
}

/** The media type as a header has it: names in lower case, parameters without a value left out. */
function contentType(text: string): string {
  const [essence = '', ...parameters] = (text.startsWith(';') ? `text/plain${text}` : text).split(
    ';',
  );
  const type = essence.trim().toLowerCase();
  if (!/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/.test(type))
    return 'text/plain;charset=US-ASCII';
  let out = type;
  for (const parameter of parameters) {
    const [, name, value] =
      /^\s*([\w!#$%&'*+.^`|~-]+)=([^"\s][^"]*|"[^"]+"?)$/.exec(parameter) ?? [];
    if (name !== undefined) out += `;${name.toLowerCase()}=${value!.trim()}`;
  }
  return out;
}
