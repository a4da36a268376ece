import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { ObjectCannedACL, S3Client } from '@aws-sdk/client-s3';

import { toError } from '../../errors.ts';
import type { FeedPass, KeptRecords } from '../exporters/exporter.ts';
import { FileFeedStorage, type FileFeedStorageOptions } from './file.ts';
import {
  loadS3Sdk,
  parseS3Uri,
  s3Client,
  s3Error,
  type S3Sdk,
  type S3Settings,
} from './s3-client.ts';
import type { FeedStorage } from './storage.ts';

export interface S3FeedStorageOptions extends FileFeedStorageOptions {
  readonly s3: S3Settings;
  /** Folder of the job, in which the part outlives the process. */
  readonly jobFolder?: string;
  /** Folder of parts without a job. */
  readonly tempdir?: string | undefined;
}

/** Bytes of a part of an upload; the store takes 10,000 of at least 5 MiB. */
const PART_BYTES = 8 * 2 ** 20;
const MOST_PARTS = 9_000;

/**
 * An object of an S3 store. The feed is a local part until it is complete and is then sent: as one request, or in parts
 * that become an object all together. What is not sent stays a local file.
 */
export class S3FeedStorage implements FeedStorage {
  readonly name = 'S3FeedStorage';
  readonly location: string;
  readonly #options: S3FeedStorageOptions;
  readonly #bucket: string;
  readonly #key: string;
  #sdk: S3Sdk | undefined;
  #client: S3Client | undefined;
  #folder = '';
  /** The finished feed, before it is sent. */
  #path = '';
  #file: FileFeedStorage | undefined;
  #hasWritten = false;

  /** @throws UsageError if the URI names no object. */
  constructor(uri: string, options: S3FeedStorageOptions) {
    const { bucket, key } = parseS3Uri(uri);
    this.#bucket = bucket;
    this.#key = key;
    this.#options = options;
    this.location = `s3://${bucket}/${key}`;
  }

  /** A part, or a file that was finished but not sent. */
  async hasPart(): Promise<boolean> {
    const { jobFolder } = this.#options;
    if (jobFolder === undefined) return false;
    const path = this.#pathIn(jobFolder);
    return (await exists(path)) || new FileFeedStorage(path, this.#options).hasPart();
  }

  async open(): Promise<KeptRecords | undefined> {
    const { append = false, resume = false, isLaterRun = false, jobFolder } = this.#options;
    this.#sdk = await loadS3Sdk();
    this.#client = s3Client(this.#sdk, this.#options.s3);
    try {
      await this.#checkBucket();
      await this.#makeFolder(jobFolder);
      this.#file = new FileFeedStorage(this.#path, this.#options);
      // A file that has its name was finished, but not sent.
      const isHere = (await exists(this.#file.part)) || (await exists(this.#path));
      const isFetched = !isHere && (append || (resume && isLaterRun)) && (await this.#fetch());
      const kept = await this.#file.open();
      if (isFetched) await rm(this.#path);
      return kept;
    } catch (error) {
      await this.#leave(false);
      throw error;
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#hasWritten = true;
    try {
      await this.#file!.write(chunk);
    } catch (thrown) {
      throw new Error(`${toError(thrown).message}. What there is of it is in ${this.#file!.part}`, {
        cause: thrown,
      });
    }
  }

  async rewrite(passes: readonly FeedPass[]): Promise<void> {
    await this.#file!.rewrite(passes);
  }

  async store(): Promise<void> {
    await this.#file!.store();
    this.#hasWritten = true;
    try {
      await this.#send();
    } catch (thrown) {
      const { message } = s3Error(thrown, this.#options.s3);
      throw new Error(`${message}. The complete feed is in ${this.#path}`);
    }
    await rm(this.#path);
    await this.#leave(false);
  }

  async abandon(isEmpty: boolean): Promise<void> {
    await this.#file?.abandon(isEmpty);
    await this.#leave(this.#hasWritten && !isEmpty);
  }

  /** A store may let nobody look at the bucket and still take objects, so only a clear answer counts. */
  async #checkBucket(): Promise<void> {
    const { HeadBucketCommand } = this.#sdk!.s3;
    try {
      await this.#client!.send(new HeadBucketCommand({ Bucket: this.#bucket }));
    } catch (thrown) {
      const status = statusOf(thrown);
      if (status === 404)
        throw new Error(`There is no bucket ${this.#bucket}. Create it, or correct the URI.`);
      if (status === undefined || status >= 500) throw s3Error(thrown, this.#options.s3);
    }
  }

  async #makeFolder(jobFolder: string | undefined): Promise<void> {
    if (jobFolder === undefined) {
      this.#folder = await mkdtemp(join(this.#options.tempdir ?? tmpdir(), 'lycosa-feed-'));
      this.#path = join(this.#folder, this.#base);
      return;
    }
    this.#path = this.#pathIn(jobFolder);
    this.#folder = dirname(this.#path);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  get #base(): string {
    return this.#key.slice(this.#key.lastIndexOf('/') + 1).slice(-150);
  }

  #pathIn(jobFolder: string): string {
    const hash = createHash('sha256').update(this.location).digest('hex').slice(0, 12);
    return join(jobFolder, 'feeds', hash, this.#base);
  }

  /** Brings the object here. False if there is none. */
  async #fetch(): Promise<boolean> {
    const { GetObjectCommand } = this.#sdk!.s3;
    try {
      const { Body } = await this.#client!.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: this.#key }),
      );
      // In Node a body is a stream.
      await pipeline(Body as Readable, createWriteStream(this.#path));
      return true;
    } catch (thrown) {
      await rm(this.#path, { force: true });
      if (statusOf(thrown) === 404) return false;
      throw s3Error(thrown, this.#options.s3);
    }
  }

  async #send(): Promise<void> {
    const { acl } = this.#options.s3;
    const { size } = await stat(this.#path);
    const upload = new this.#sdk!.storage.Upload({
      client: this.#client!,
      params: {
        Bucket: this.#bucket,
        Key: this.#key,
        Body: createReadStream(this.#path),
        // Stores have names of their own; a wrong one is refused by the store.
        ...(acl !== undefined && { ACL: acl as ObjectCannedACL }),
      },
      partSize: Math.max(PART_BYTES, Math.ceil(size / MOST_PARTS)),
      leavePartsOnError: false,
    });
    await upload.done();
  }

  async #leave(keepsFolder: boolean): Promise<void> {
    this.#client?.destroy();
    this.#client = undefined;
    if (this.#folder === '' || keepsFolder) return;
    if (this.#options.jobFolder === undefined) {
      await rm(this.#folder, { recursive: true, force: true });
      return;
    }
    // Folders of a job stay while a part is in them.
    await rmdir(this.#folder).catch(() => {});
    await rmdir(dirname(this.#folder)).catch(() => {});
  }
}

function statusOf(thrown: unknown): number | undefined {
  return (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
