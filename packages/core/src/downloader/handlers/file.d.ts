import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloadHandler } from './handler.ts';
/** `file:` URLs. They come from the spider itself: no redirect and no link on a web page leads here. */
export declare class FileHandler implements DownloadHandler {
  download(request: Request): Promise<Response>;
}
//# sourceMappingURL=file.d.ts.map
