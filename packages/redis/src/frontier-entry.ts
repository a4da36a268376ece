import {
  callbackRefusal,
  type CrawlerSlots,
  deserializeRequest,
  type Request,
  RequestFingerprints,
  serializeRequest,
  type Spider,
  UsageError,
} from 'lycosa';

/** A request on its way into the frontier. */
export interface Link {
  readonly request: Request;
  /** Its seven arguments of the scripts. */
  readonly args: readonly (string | Buffer)[];
}

/** Schemes of what may come out of the frontier: whoever writes into Redis must not read our files. */
const schemes = /^(https?|data):/i;

/**
 * A request as the frontier takes it.
 *
 * @param started - Whether it comes from `start()`, and is known by what earlier attempts at it have asked for.
 */
export function linkOf(
  request: Request,
  slots: CrawlerSlots,
  started: boolean,
  fingerprints: RequestFingerprints = new RequestFingerprints(),
): Link {
  const { dontFilter, notBefore } = request;
  const flags = `${dontFilter ? '' : 'f'}${!dontFilter || request.meta.isStartRequest ? 'r' : ''}${started ? 's' : ''}`;
  const host = slots.keyOf(request);
  const own = slots.settingsOf(host);
  // How long to wait is told, not until when: the server's clock is the one that counts.
  const wait = notBefore === undefined ? 0 : Math.max(0, Math.ceil(notBefore - Date.now()));
  const stored = notBefore === undefined ? request : request.replace({ notBefore: undefined });
  const { delay, concurrency } = own ?? {};
  return {
    request,
    args: [
      flags,
      flags === '' ? '' : fingerprints.of(request),
      host,
      String(-request.priority),
      String(wait),
      delay === undefined && concurrency === undefined
        ? ''
        : `${Math.ceil((delay ?? slots.defaultDelay) * 1000)} ${concurrency ?? 1}`,
      serializeRequest(stored),
    ],
  };
}

/** Bytes that a request takes in Redis. */
export function bytesOf({ args }: Link): number {
  return Buffer.byteLength(args.at(-1)!);
}

/**
 * A request out of the frontier. Anybody who can write to Redis may have put it there.
 *
 * @throws UsageError where it is none that this spider could have made.
 */
export function readEntry(text: string, spider: Spider): Request {
  if (text.includes('__proto__')) refusePrototype(text);
  const request = deserializeRequest(text);
  if (!schemes.test(request.url)) {
    throw new UsageError(`A queue entry asks for ${JSON.stringify(request.url.slice(0, 100))}.`);
  }
  const refusal = callbackRefusal(spider, request);
  if (refusal !== undefined) throw new UsageError(refusal);
  return request;
}

function refusePrototype(text: string): void {
  JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') throw new UsageError('A queue entry has a key __proto__.');
    return value;
  });
}
