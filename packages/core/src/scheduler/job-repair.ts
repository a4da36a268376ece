import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

import { UsageError } from '../errors.ts';
import { deserializeRequest } from '../http/serialize.ts';
import { hostOf } from '../http/url.ts';
import { JobHeldError, jobPath, lockJob, makeJobTables, needJob } from './job.ts';

/** What a repair could save. */
export interface JobRepair {
  readonly requests: number;
  readonly seen: number;
  /** The file as it was. */
  readonly damagedPath: string;
}

/** Bytes; a header that says more is damaged itself. */
const maxLength = 2 ** 40;

/** The tables of a job and the columns of their order. */
const tables = [
  ['slots', 'id'],
  ['seen', 'rowid'],
  ['started', 'rowid'],
  ['cookies', 'jar, domain'],
  ['aside', 'rowid'],
  ['state', 'key'],
] as const;

/**
 * Makes a whole job of a damaged one: everything that can be read is copied to a new file, the old one is kept beside it.
 *
 * @throws UsageError when there is no job, a process runs it, or nothing of it can be read.
 */
export async function repairJob(folder: string): Promise<JobRepair> {
  needJob(folder);
  const { DatabaseSync } = await import('node:sqlite');
  const path = jobPath(folder);
  const newPath = `${path}.repaired`;
  const damagedPath = `${path}.damaged`;
  if (existsSync(damagedPath))
    throw new UsageError(`${damagedPath} is there from an earlier repair. Move it away first.`);
  const from = await lockJob(folder).catch((error: unknown) => {
    if (error instanceof JobHeldError) throw error;
    // SQLite reads nothing of a file that is shorter than it says; pages of zeros are only damaged.
    if (!lengthen(path)) throw error;
    return lockJob(folder);
  });
  rmSync(newPath, { force: true });
  const to = new DatabaseSync(newPath);
  try {
    makeJobTables(to);
    to.exec('BEGIN');
    for (const [table, order] of tables) copy(from, to, table, order);
    copyRequests(from, to);
    nameSlots(to);
    to.exec('COMMIT');
    const count = (sql: string): number => Number((to.prepare(sql).get() as { n: number }).n);
    const saved = {
      requests: count('SELECT count(*) AS n FROM requests'),
      seen: count('SELECT coalesce(sum(length(fingerprints)), 0) / 16 AS n FROM seen'),
    };
    to.close();
    from.close();
    for (const suffix of ['-wal', '-shm'])
      if (existsSync(path + suffix)) renameSync(path + suffix, damagedPath + suffix);
    renameSync(path, damagedPath);
    renameSync(newPath, path);
    return { ...saved, damagedPath };
  } catch (error) {
    if (to.isOpen) to.close();
    if (from.isOpen) from.close();
    rmSync(newPath, { force: true });
    throw error;
  }
}

/** Gives the file the length that its header names; false if it is not shorter. */
function lengthen(path: string): boolean {
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r+');
  try {
    if (readSync(file, header) < header.length) return false;
    // https://www.sqlite.org/fileformat.html#the_database_header
    const length = header.readUInt16BE(16) * header.readUInt32BE(28);
    if (length <= fstatSync(file).size || length > maxLength) return false;
    ftruncateSync(file, length);
    return true;
  } finally {
    closeSync(file);
  }
}

/** Slot by slot, so that a damaged page hides as little as can be. */
function copyRequests(from: DatabaseSync, to: DatabaseSync): void {
  const slots = new Set<number>();
  for (const { id } of to.prepare('SELECT id FROM slots').iterate() as Iterable<{ id: number }>)
    slots.add(id);
  // Those of slots whose names are lost too.
  copy(from, to, 'requests', 'slot, rank1, rank2, rank3');
  for (const slot of slots)
    copy(from, to, 'requests', 'rank1, rank2, rank3', `WHERE slot = ${slot}`);
}

/** Copies rows from the front to the first that cannot be read, and from the back to the last. */
function copy(
  from: DatabaseSync,
  to: DatabaseSync,
  table: string,
  order: string,
  where = '',
): void {
  const columns = order === 'rowid' ? 'rowid, *' : '*';
  const backward = order.replaceAll(/\w+/g, '$& DESC');
  for (const direction of [order, backward]) {
    try {
      const rows = from.prepare(`SELECT ${columns} FROM ${table} ${where} ORDER BY ${direction}`);
      for (const row of rows.iterate()) insert(to, table, row as Record<string, never>);
      return;
    } catch {
      // A damaged page: what is behind it comes from the other end.
    }
  }
}

function insert(to: DatabaseSync, table: string, row: Record<string, never>): void {
  const names = Object.keys(row);
  try {
    to.prepare(
      `INSERT OR IGNORE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ).run(...Object.values(row));
  } catch {
    // A row whose bytes are no row of this table.
  }
}

/** Requests whose slot lost its name get that of the host they go to. */
function nameSlots(to: DatabaseSync): void {
  const lost = to
    .prepare(
      'SELECT slot, data FROM requests WHERE slot NOT IN (SELECT id FROM slots) GROUP BY slot',
    )
    .all() as { slot: number; data: string }[];
  for (const { slot, data } of lost) {
    let key = `slot-${slot}`;
    try {
      const { url, meta } = deserializeRequest(data);
      key = meta.downloadSlot ?? hostOf(url);
    } catch {
      // It is set aside when its turn comes.
    }
    to.prepare('INSERT OR IGNORE INTO slots VALUES (?, ?)').run(slot, key);
    to.prepare(
      'UPDATE OR IGNORE requests SET slot = (SELECT id FROM slots WHERE key = ?) WHERE slot = ?',
    ).run(key, slot);
  }
}
