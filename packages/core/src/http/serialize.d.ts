import { Request } from './request.ts';
/** The request as JSON text. Its callbacks are method names by now. */
export declare function serializeRequest(request: Request): string;
/**
 * The request that `serializeRequest` wrote.
 *
 * @throws UsageError when the text is no request: someone else wrote into the queue.
 */
export declare function deserializeRequest(text: string): Request;
//# sourceMappingURL=serialize.d.ts.map
