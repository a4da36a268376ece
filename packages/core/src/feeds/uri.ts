import { createHash } from 'node:crypto';

import { UsageError } from '../errors.ts';

/** `%(name)s`, `%(batch_id)05d`; the part after the parenthesis may be missing, which is an error. */
const PARAMETER = /%\(([^)]*)\)(?:(0?)(\d*)([sd]))?/g;

/** Longest value, in bytes: a file name has 255 at most, and `.part` must fit too. */
const LONGEST_VALUE = 180;

/**
 * Fills in the parameters of a feed URI. Only `%(…)` is expanded; any other `%` stays.
 *
 * @remarks A value becomes part of one path component and never leads out of its folder: separators, control
 * characters, `%` and a lone `.` or `..` are percent-encoded, and a long value is cut and marked with a hash, so that
 * different values give different names.
 *
 * @param find - The value of a parameter; `undefined` where there is none.
 * @throws UsageError for a parameter that does not exist or has no type (`s` or `d`).
 */
export function expandFeedUri(template: string, find: (name: string) => unknown): string {
  // A file: URL is decoded once more on its way to a path.
  const encode = template.startsWith('file:') ? encodeURIComponent : String;
  return template.replace(
    PARAMETER,
    (whole, name: string, zero?: string, width?: string, type?: string) => {
      if (type === undefined) {
        throw new UsageError(
          `${whole} in the feed URI ${template} has no type. Write %(${name})s, or %(${name})d for a number.`,
        );
      }
      const value = find(name);
      if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
        throw new UsageError(
          `The feed URI ${template} needs ${name}, which ${value === undefined || value === null ? 'the spider does not have' : 'is no text or number'}. ` +
            `Use time, batch_time, batch_id, name or an attribute of the spider, or pass -a ${name}=VALUE.`,
        );
      }
      if (type === 'd' && !Number.isInteger(Number(value))) {
        throw new UsageError(
          `${whole} in the feed URI ${template} needs a whole number, got ${JSON.stringify(value)}. Write %(${name})s.`,
        );
      }
      return encode(safeValue(String(value)).padStart(Number(width ?? 0), zero ? '0' : ' '));
    },
  );
}

/** The time as URIs carry it: `2026-12-01T03-00-00+00-00`. */
export function feedTime(date: Date): string {
  return `${date.toISOString().slice(0, 19).replaceAll(':', '-')}+00-00`;
}

/**
 * The time of a batch: `2026-12-01T03-00-00.123000+00-00`.
 *
 * @param micros - Microseconds since the epoch.
 */
export function feedBatchTime(micros: number): string {
  const date = new Date(Math.floor(micros / 1000)).toISOString().slice(0, 23).replaceAll(':', '-');
  return `${date}${String(micros % 1000).padStart(3, '0')}+00-00`;
}

/** True where the URI differs from batch to batch. */
export function hasBatchParameter(template: string): boolean {
  return /%\(batch_(?:id|time)\)/.test(template);
}

function safeValue(value: string): string {
  const encoded = value
    .toWellFormed()
    .replace(/[%/\\]|(?=[^\u0080-\u009f])\p{Cc}/gu, percent)
    .replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'));
  if (Buffer.byteLength(encoded) <= LONGEST_VALUE) return encoded;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 16);
  let cut = encoded.slice(0, LONGEST_VALUE);
  while (Buffer.byteLength(cut) > LONGEST_VALUE - 17) cut = cut.slice(0, -1);
  return `${cut.toWellFormed()}-${hash}`;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
