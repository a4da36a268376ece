import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { DownloadFailedError } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import type { DownloadHandler } from './handler.ts';

/** `file:` URLs. They come from the spider itself: no redirect and no link on a web page leads here. */
export class FileHandler implements DownloadHandler {
  async download(request: Request): Promise<Response> {
    try {
      return createResponse(request.url, { body: await readFile(fileURLToPath(request.url)) });
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new DownloadFailedError(`${request.url} cannot be read: ${code ?? String(cause)}`, {
        cause,
      });
    }
  }
}
