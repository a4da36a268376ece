import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { DownloadFailedError } from '../../errors.js';
import { createResponse } from '../../http/response-types.js';
/** `file:` URLs. They come from the spider itself: no redirect and no link on a web page leads here. */
export class FileHandler {
  async download(request) {
    try {
      return createResponse(request.url, { body: await readFile(fileURLToPath(request.url)) });
    } catch (cause) {
      const { code } = cause;
      throw new DownloadFailedError(`${request.url} cannot be read: ${code ?? String(cause)}`, {
        cause,
      });
    }
  }
}
//# sourceMappingURL=file.js.map
