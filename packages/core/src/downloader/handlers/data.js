import { DownloadFailedError } from '../../errors.js';
import { createResponse } from '../../http/response-types.js';
const shape = /^data:([^,;]*)((?:;[^,;]*?)*?)(;\s*base64\s*)?,([\s\S]*)$/i;
/** `data:` URLs (RFC 2397): the body is in the URL. */
export class DataHandler {
  // oxlint-disable-next-line typescript/require-await -- a fault of the URL rejects, it does not throw
  async download(request) {
    const url = request.url.replace(/#.*$/s, '');
    const match = shape.exec(url);
    if (!match)
      throw new DownloadFailedError(`${url.slice(0, 80)} is not a data URL: it has no comma.`);
    const [, type, parameters, base64, data] = match;
    const bytes = Buffer.from(unescape(data), 'latin1');
    const body = base64 ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes;
    const contentType =
      type || parameters ? `${type || 'text/plain'}${parameters}` : 'text/plain;charset=US-ASCII';
    return createResponse(request.url, { headers: { 'Content-Type': contentType }, body });
  }
}
/** Percent escapes to bytes, as Latin-1 text; a bad escape stays as it is. */
function unescape(text) {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
}
//# sourceMappingURL=data.js.map
