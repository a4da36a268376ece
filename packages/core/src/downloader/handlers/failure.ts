import {
  CannotResolveHostError,
  Control,
  DownloadConnectionRefusedError,
  DownloadFailedError,
  DownloadProxyError,
  DownloadTimeoutError,
  LycosaError,
} from '../../errors.ts';
import { redactUrl, type Request } from '../../http/request.ts';
import { hostOf, originOf } from '../../http/url.ts';

/** It was the proxy that failed, not the site behind it. */
export class ProxyFailure extends Error {
  /** Scheme, host and port; no credentials. */
  readonly proxy: string;

  constructor(url: URL, cause: Error) {
    super(cause.message, { cause });
    this.proxy = proxyName(url);
  }
}

/** The code of headers beyond `DOWNLOAD_MAX_HEADERS_SIZE`. */
export const headersOverflow = 'HEADERS_OVERFLOW';

export const headersError = (): Error =>
  Object.assign(new Error('headers overflow'), { code: headersOverflow });

/** True for what TLS says of a certificate that does not hold. */
export function isCertificate({ code = '' }: NodeJS.ErrnoException): boolean {
  return /CERT_|_CERT$|CERT$|ALTNAME|LEAF_SIGNATURE/.test(code);
}

/** A proxy as it may be shown. */
export function proxyName({ protocol, host }: URL): string {
  return `${protocol}//${host}`;
}

/**
 * What a download ended with, as an error of ours: which host, what went wrong, after how long.
 *
 * @param phase - What it was at.
 */
export function toDownloadError(
  error: Error,
  request: Request,
  startedAt: number,
  proxy: URL | undefined,
  phase: string,
): Error {
  if (error instanceof Control || error instanceof LycosaError) return error;
  const after = `after ${Math.round(performance.now() - startedAt)} ms (${phase})`;
  const options = { cause: error };
  const what = request.toString();
  if (error instanceof ProxyFailure) {
    const why = reasonOf(error.cause as NodeJS.ErrnoException);
    return new DownloadProxyError(`${what}: the proxy ${error.proxy} ${why} ${after}`, options);
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  const by = proxy === undefined ? '' : ` (proxy ${proxyName(proxy)})`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
    return new CannotResolveHostError(
      `${what}: the host ${hostOf(request.url)} has no address (${code}) ${after}`,
      options,
    );
  }
  if (code === 'ECONNREFUSED') {
    return new DownloadConnectionRefusedError(
      `${what}: ${redactUrl(originOf(request.url))} refused the connection${by} ${after}`,
      options,
    );
  }
  if (code === headersOverflow) {
    return new DownloadFailedError(
      `${what}: the headers are longer than DOWNLOAD_MAX_HEADERS_SIZE ${after}`,
      options,
    );
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new DownloadTimeoutError(`${what}: no connection${by} ${after}`, options);
  }
  return new DownloadFailedError(
    `${what}: ${error.message}${code ? ` (${code})` : ''}${by} ${after}${isCertificate(error) ? trusting : ''}`,
    options,
  );
}

const trusting =
  '. tls.ca in DOWNLOAD_SLOTS trusts a certificate, DOWNLOAD_VERIFY_CERTIFICATES=false every one.';

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA')
    return `has no address (${code})`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'is silent';
  return `failed: ${message}${code ? ` (${code})` : ''}`;
}
