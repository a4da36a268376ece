import { Control } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';

/** Fetches URLs of one scheme. */
export interface DownloadHandler {
  /** @throws DownloadError and nothing else of its own. */
  download(request: Request): Promise<Response>;
  /** Breaks off what is under way; those promises are rejected with `error`. */
  abort?(error: Error): void;
  close?(): Promise<void> | void;
}

/** Thrown by a handler that wants the request once more, when its slot may send again. */
export class SendAgain extends Control {}
