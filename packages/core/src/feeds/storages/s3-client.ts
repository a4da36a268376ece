import type * as S3 from '@aws-sdk/client-s3';
import type * as Storage from '@aws-sdk/lib-storage';

import { LycosaError, SettingsError, UsageError } from '../../errors.ts';

/** How an object store is reached; what is absent is found by the AWS SDK. */
export interface S3Settings {
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
  /** Of a store that is not Amazon's. */
  readonly endpoint?: string;
  readonly region?: string;
  /** `FEED_STORAGE_S3_ACL`. */
  readonly acl?: string;
}

/** Silence after which a request is given up; the SDK itself would wait for ever. */
const IDLE_MS = 60_000;
const CONNECT_MS = 10_000;

/**
 * Reads the settings of object stores.
 *
 * @throws SettingsError for one key without the other, or an endpoint that is no URL.
 */
export function s3Settings(settings: { get(name: string): unknown }): S3Settings {
  const text = (name: string): string | undefined => {
    const value = settings.get(name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const accessKeyId = text('AWS_ACCESS_KEY_ID');
  const secretAccessKey = text('AWS_SECRET_ACCESS_KEY');
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new SettingsError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together, and only one is set. Set both, or none to leave the search to the AWS SDK.',
    );
  }
  const sessionToken = text('AWS_SESSION_TOKEN');
  const endpoint = text('AWS_ENDPOINT_URL');
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:/i.test(endpoint))) {
    throw new SettingsError(
      'AWS_ENDPOINT_URL must be a URL of http or https. Write https://objects.example.com.',
    );
  }
  const region = text('AWS_REGION_NAME');
  const acl = text('FEED_STORAGE_S3_ACL');
  return {
    ...(accessKeyId && { accessKeyId }),
    ...(secretAccessKey && { secretAccessKey }),
    ...(sessionToken && { sessionToken }),
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    ...(acl && { acl }),
  };
}

/**
 * Bucket and key of `s3://bucket/key`. Nothing in the key is decoded, as in Scrapy.
 *
 * @throws UsageError for another form, and for credentials in it.
 */
export function parseS3Uri(uri: string): { bucket: string; key: string } {
  const [, authority = '', key = ''] = /^s3:\/\/([^/]*)\/?(.*)$/is.exec(uri) ?? [];
  if (authority.includes('@')) {
    throw new UsageError(
      `The feed s3://***@${authority.slice(authority.lastIndexOf('@') + 1)}/${key} has credentials in its URI, where logs and lists show them. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    );
  }
  if (authority === '' || key === '' || key.endsWith('/')) {
    throw new UsageError(`${uri} names no object. Write s3://bucket/folder/name.jsonl.`);
  }
  return { bucket: authority, key };
}

/** The SDK, which only those install who need it. */
export interface S3Sdk {
  readonly s3: typeof S3;
  readonly storage: typeof Storage;
}

/** @throws UsageError if the SDK is not installed. */
export async function loadS3Sdk(): Promise<S3Sdk> {
  try {
    const [s3, storage] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('@aws-sdk/lib-storage'),
    ]);
    return { s3, storage };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new UsageError(
      'Feeds in s3: need the AWS SDK, which is not installed. Run: npm install @aws-sdk/client-s3 @aws-sdk/lib-storage',
      { cause },
    );
  }
}

export function s3Client({ s3 }: S3Sdk, settings: S3Settings): S3.S3Client {
  const { accessKeyId, secretAccessKey, sessionToken, endpoint } = settings;
  // Stores that are not Amazon's rarely care, but the SDK does not start without one.
  const region =
    settings.region ?? process.env.AWS_REGION ?? (endpoint === undefined ? undefined : 'us-east-1');
  return new s3.S3Client({
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
      }),
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
  });
}

/** An error of the SDK as one that can be shown: its own carries the request, whose headers are secret. */
export function s3Error(thrown: unknown, settings: S3Settings): LycosaError {
  const { name, message, code, $metadata } = thrown as Error & {
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  const kind = status === undefined ? (code ?? name) : `${name} (${status})`;
  let text = message && !message.includes(kind) ? `${kind}: ${message}` : message || kind;
  const { accessKeyId, secretAccessKey, sessionToken } = settings;
  for (const secret of [secretAccessKey, sessionToken, accessKeyId]) {
    if (secret !== undefined) text = text.replaceAll(secret, '***');
  }
  if (name === 'CredentialsProviderError')
    text += '. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  if (/region is missing/i.test(message)) text += '. Set AWS_REGION_NAME';
  return new LycosaError('ERR_FEED', text);
}
