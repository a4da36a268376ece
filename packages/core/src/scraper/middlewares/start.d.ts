import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
/** Marks the requests of `start()` with `meta.isStartRequest`. */
export declare class StartMiddleware implements SpiderMiddleware {
  getProcessedRequest(request: Request, response: Response | null): Request;
}
//# sourceMappingURL=start.d.ts.map
