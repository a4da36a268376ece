import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloadHandler } from './handler.ts';
/** `data:` URLs (RFC 2397): the body is in the URL. */
export declare class DataHandler implements DownloadHandler {
  download(request: Request): Promise<Response>;
}
//# sourceMappingURL=data.d.ts.map
