import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { LycosaError, toError, UsageError } from '../errors.ts';
import type { Request } from '../http/request.ts';
import { deserializeRequest, serializeRequest } from '../http/serialize.ts';

/** Raised when the tables change; an older Lycosa refuses a newer file. */
const schemaVersion = 1;

// Requests lie in the order in which they are made, so that one tree serves both reading and writing. Fingerprints are
// appended, those of a commit in one row: they are only ever read as a whole.
const schema = `
CREATE TABLE IF NOT EXISTS slots (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE IF NOT EXISTS requests (
  slot INTEGER NOT NULL, rank1 REAL NOT NULL, rank2 INTEGER NOT NULL, rank3 INTEGER NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (slot, rank1, rank2, rank3)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (fingerprints BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS started (fingerprints BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cookies (
  jar TEXT NOT NULL, domain TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (jar, domain)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS aside (slot TEXT NOT NULL, data ANY, reason TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Bytes of a fingerprint. */
const printSize = 16;

/** Slots whose number is kept in memory. */
const maxSlotIds = 10_000;

/** Requests that wait for the next commit in memory; beyond, they are written at once. */
const maxBuffered = 1000;

/** Bytes of an entry that is read. A longer one was not written by a crawl. */
const maxEntry = 64 * 2 ** 20;

/** The order of requests in a slot: lower first, compared part by part. */
export type Rank = readonly [priority: number, isStart: number, turn: number];

export function compareRanks(a: Rank, b: Rank): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** An entry as it is stored. */
export interface JobEntry {
  /** Counts up over all runs. */
  readonly id: number;
  readonly slot: number;
  readonly rank: Rank;
  readonly request: Request;
}

/** An entry that cannot be used. */
export interface BadEntry {
  readonly rank: Rank;
  readonly reason: string;
}

/** A job that another process runs. */
export class JobHeldError extends UsageError {
  readonly holder: string;

  constructor(folder: string, holder: string, options?: ErrorOptions) {
    super(
      `The job in ${folder} is being run by ${holder}. One process runs a job at a time.`,
      options,
    );
    this.holder = holder;
  }
}

/**
 * The file of one job, `JOBDIR/job.sqlite`: what waits, what has been seen, and the state of the crawl.
 *
 * Writes are gathered and committed together. A request stays in the file until it is done, so after `kill -9` the
 * next run finds everything that was not. One that comes and is done between two commits is never written.
 */
export class JobFile {
  readonly folder: string;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #best: StatementSync;
  readonly #set: StatementSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #slotIds = new Map<string, number>();
  /** Requests that are not in the file yet. */
  readonly #added = new Map<number, JobEntry>();
  readonly #prints = { seen: [] as Uint8Array[], started: [] as Uint8Array[] };
  /** What each key of the state holds in the file. */
  readonly #written = new Map<string, string>();
  #isWriting = false;
  /** Why nothing is written any more: a full disk. What was committed before stands. */
  #failure: Error | undefined;
  #isReported = false;
  #lastId: number;

  private constructor(folder: string, db: DatabaseSync) {
    this.folder = folder;
    this.#db = db;
    this.#insert = db.prepare('INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?)');
    this.#delete = db.prepare(
      'DELETE FROM requests WHERE slot = ? AND rank1 = ? AND rank2 = ? AND rank3 = ?',
    );
    this.#best = db.prepare(
      `SELECT rank1, rank2, rank3, CASE WHEN octet_length(data) <= ${maxEntry} THEN data END AS data FROM requests WHERE slot = ? AND (rank1, rank2, rank3) > (?, ?, ?) ORDER BY rank1, rank2, rank3 LIMIT ?`,
    );
    this.#set = db.prepare(
      'INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    );
    const last = this.get('lastId');
    this.#lastId = Number.isSafeInteger(last) ? (last as number) : this.#largestId();
  }

  /**
   * Opens or makes the job of a folder, for this process alone.
   *
   * @param spider - Whose job it is from now on; undefined to look at it only.
   * @throws UsageError when another process holds it, another spider's it is, or a newer Lycosa wrote it.
   */
  static async open(folder: string, spider?: string): Promise<JobFile> {
    const path = jobPath(folder);
    const wasKilled = existsSync(join(folder, 'job.lock'));
    // Looked at now: opening makes a log anew where there is none.
    const isLogGone = wasKilled && hasBytes(path) && !existsSync(`${path}-wal`);
    const db = await lockJob(folder);
    try {
      checkJob(folder, db, wasKilled);
      makeJobTables(db);
      chmodSync(path, 0o600);
      const job = new JobFile(folder, db);
      const owner = job.get('spider') ?? spider;
      if (spider !== undefined && owner !== spider) {
        throw new UsageError(
          `The job in ${folder} is of the spider ${JSON.stringify(owner)}, not of ${spider}. Give each spider its own JOBDIR, as in JOBDIR=jobs/${spider}; a spider that was renamed needs its old name until the job is done.`,
        );
      }
      job.set('spider', owner);
      if (isLogGone) job.set('isLogGone', true);
      writeFileSync(join(folder, 'job.lock'), `process ${process.pid} on ${hostname()}`);
      return job;
    } catch (cause) {
      db.close();
      throw cause instanceof UsageError ? cause : unusable(folder, cause);
    }
  }

  get isOpen(): boolean {
    return this.#db.isOpen;
  }

  /** False if somebody deleted what a killed run wrote last. */
  get isComplete(): boolean {
    return this.get('isLogGone') !== true;
  }

  /** True if an earlier run has left its mark. */
  get isResumed(): boolean {
    return this.get('runs') !== undefined;
  }

  /** Takes a request; it is in the file from the next commit on. */
  add(
    slot: string,
    rank: (id: number) => Rank,
    request: Request,
    fingerprint: Uint8Array | undefined,
  ): JobEntry {
    const id = ++this.#lastId;
    const entry = { id, slot: this.#slotId(slot), rank: rank(id), request };
    if (fingerprint) this.#prints.seen.push(fingerprint);
    this.#added.set(id, entry);
    if (this.#added.size > maxBuffered) this.#flush();
    return entry;
  }

  remove({ id, slot, rank }: JobEntry): void {
    if (this.#added.delete(id)) return;
    this.#write(() => this.#delete.run(slot, ...rank));
  }

  markStarted(fingerprint: Uint8Array): void {
    this.#prints.started.push(fingerprint);
  }

  /** Entries of a slot worse than `after`, the best first. */
  best(key: string, after: Rank | undefined, limit: number): (JobEntry | BadEntry)[] {
    this.#flush();
    const slot = this.#slotId(key);
    const rows = this.#best.all(
      slot,
      ...(after ?? ([-Number.MAX_SAFE_INTEGER, 0, 0] as const)),
      limit,
    ) as { rank1: number; rank2: number; rank3: number; data: string | null }[];
    return rows.map(({ rank1, rank2, rank3, data }) => {
      const rank = [rank1, rank2, rank3] as const;
      try {
        if (data === null) throw new UsageError('A queue entry is too long.');
        return { id: Math.abs(rank3), slot, rank, request: deserializeRequest(data) };
      } catch (thrown) {
        return { rank, reason: toError(thrown).message };
      }
    });
  }

  /** Moves an entry that cannot be used out of the way; it is kept for whoever wants to know. */
  setAside(key: string, { rank, reason }: BadEntry): void {
    const where = [this.#slotId(key), ...rank] as const;
    this.#write(() => {
      this.#prepared(
        'INSERT INTO aside SELECT ?, data, ? FROM requests WHERE slot = ? AND rank1 = ? AND rank2 = ? AND rank3 = ?',
      ).run(key, reason, ...where);
      this.#delete.run(...where);
    });
  }

  /** How many requests each slot holds, and the priority of the best. */
  slots(): { slot: string; count: number; priority: number }[] {
    this.#flush();
    return this.#prepared(
      'SELECT slots.key AS slot, counted.count, -counted.best AS priority FROM (SELECT slot, count(*) AS count, min(rank1) AS best FROM requests GROUP BY slot) AS counted JOIN slots ON slots.id = counted.slot',
    ).all() as { slot: string; count: number; priority: number }[];
  }

  get asideCount(): number {
    return (this.#prepared('SELECT count(*) AS count FROM aside').get() as { count: number }).count;
  }

  *seen(table: 'seen' | 'started'): Generator<Buffer> {
    for (const row of this.#prepared(`SELECT fingerprints FROM ${table}`).iterate()) {
      const { buffer, byteOffset, length } = (row as { fingerprints: Uint8Array }).fingerprints;
      for (let at = 0; at + printSize <= length; at += printSize)
        yield Buffer.from(buffer, byteOffset + at, printSize);
    }
  }

  /** Fingerprints in a table. */
  seenCount(table: 'seen' | 'started'): number {
    const { bytes } = this.#prepared(
      `SELECT coalesce(sum(length(fingerprints)), 0) AS bytes FROM ${table}`,
    ).get() as { bytes: number };
    return Math.floor(bytes / printSize);
  }

  /** A value of the state, JSON; undefined if there is none, or none that can be read. */
  get(key: string): unknown {
    const row = this.#prepared('SELECT value FROM state WHERE key = ?').get(key) as
      | { value: string }
      | undefined;
    try {
      return row === undefined ? undefined : parsePlain(row.value);
    } catch {
      return undefined;
    }
  }

  set(key: string, value: unknown): void {
    const text = JSON.stringify(value);
    if (text === undefined || this.#written.get(key) === text) return;
    this.#write(() => this.#set.run(key, text));
    this.#written.set(key, text);
  }

  /** The cookies of each domain of each jar, as they were saved. */
  *cookies(): Generator<{ jar: string; domain: string; data: string }> {
    yield* this.#prepared('SELECT jar, domain, data FROM cookies').iterate() as Iterable<{
      jar: string;
      domain: string;
      data: string;
    }>;
  }

  /** Null forgets them. */
  setCookies(jar: string, domain: string, data: string | null): void {
    this.#write(() => {
      if (data === null)
        this.#prepared('DELETE FROM cookies WHERE jar = ? AND domain = ?').run(jar, domain);
      else this.#prepared('INSERT OR REPLACE INTO cookies VALUES (?, ?, ?)').run(jar, domain, data);
    });
  }

  /**
   * What was written since the last commit becomes part of the job, all or nothing.
   *
   * @throws Error if it could not be written, once.
   */
  commit(): void {
    this.#flush();
    if (this.#isWriting) {
      this.#write(() => {
        this.#set.run('lastId', String(this.#lastId));
        this.#db.exec('COMMIT');
        this.#isWriting = false;
      });
    }
    const failure = this.#failure;
    if (failure === undefined || this.#isReported) return;
    this.#isReported = true;
    throw failure;
  }

  /** @throws Error as `commit` does. */
  close(): void {
    if (!this.#db.isOpen) return;
    try {
      this.commit();
      if (this.#failure === undefined) this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      // What could not be committed is done again in the next run. Without this mark nothing is missed beside the file.
      rmSync(join(this.folder, 'job.lock'), { force: true });
      this.#db.close();
    }
  }

  /** Writes what is in memory into the transaction. */
  #flush(): void {
    for (const table of ['seen', 'started'] as const) {
      const prints = this.#prints[table];
      if (prints.length === 0) continue;
      this.#prints[table] = [];
      this.#write(() =>
        this.#prepared(`INSERT INTO ${table} VALUES (?)`).run(Buffer.concat(prints)),
      );
    }
    if (this.#added.size === 0) return;
    this.#write(() => {
      for (const { slot, rank, request } of this.#added.values())
        this.#insert.run(slot, rank[0], rank[1], rank[2], serializeRequest(request));
    });
    this.#added.clear();
  }

  #slotId(key: string): number {
    let id = this.#slotIds.get(key);
    if (id !== undefined) return id;
    const row = this.#prepared('SELECT id FROM slots WHERE key = ?').get(key);
    id = (row as { id: number } | undefined)?.id;
    if (id === undefined) {
      this.#write(() => {
        const { lastInsertRowid } = this.#prepared('INSERT INTO slots (key) VALUES (?)').run(key);
        id = Number(lastInsertRowid);
      });
    }
    if (this.#slotIds.size >= maxSlotIds) this.#slotIds.clear();
    // 0 where nothing can be written any more.
    this.#slotIds.set(key, (id ??= 0));
    return id;
  }

  #largestId(): number {
    const { last } = this.#prepared('SELECT max(abs(rank3)) AS last FROM requests').get() as {
      last: number | null;
    };
    return last ?? 0;
  }

  /** A statement is made once: each has some kB outside of the heap, which are freed late. */
  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  /** Runs `work` in the open transaction. The first failure is the last: half a transaction is never committed. */
  #write(work: () => void): void {
    if (this.#failure !== undefined) return;
    try {
      if (!this.#isWriting) this.#db.exec('BEGIN');
      this.#isWriting = true;
      work();
    } catch (cause) {
      this.#isWriting = false;
      this.#failure = new LycosaError(
        'ERR_JOB',
        `The job in ${this.folder} cannot be written: ${toError(cause).message}. What it held at its last commit stands.`,
        { cause },
      );
    }
  }
}

export function jobPath(folder: string): string {
  return join(folder, 'job.sqlite');
}

/** @throws UsageError when the folder has no job. */
export function needJob(folder: string): void {
  if (!existsSync(jobPath(folder)) && !existsSync(`${jobPath(folder)}-wal`))
    throw new UsageError(`There is no job in ${folder}. JOBDIR names the folder of a job.`);
}

export function makeJobTables(db: DatabaseSync): void {
  db.exec(schema);
  db.exec(`PRAGMA user_version = ${schemaVersion}`);
}

/**
 * Opens or makes the file of a folder, for this process alone.
 *
 * @throws JobHeldError when another process holds it; UsageError when it is no database.
 */
export async function lockJob(folder: string): Promise<DatabaseSync> {
  // Loaded here: a crawl without JOBDIR does not pay for it.
  const { DatabaseSync } = await import('node:sqlite');
  const path = jobPath(folder);
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // SQLite would begin an empty file.
    if (!hasBytes(path) && hasBytes(`${path}-wal`))
      throw new Error('it is gone, and only job.sqlite-wal is left');
    db = new DatabaseSync(path);
    db.exec(
      'PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;',
    );
    db.exec('BEGIN IMMEDIATE; COMMIT;');
    return db;
  } catch (cause) {
    db?.close();
    if (toError(cause).message.includes('locked'))
      throw new JobHeldError(folder, holder(folder), { cause });
    throw unusable(folder, cause);
  }
}

/** @throws UsageError if the file is of a newer format, or not whole. */
function checkJob(folder: string, db: DatabaseSync, wasKilled: boolean): void {
  const path = jobPath(folder);
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as {
    user_version: number;
  };
  if (version > schemaVersion) {
    throw new UsageError(
      `${path} was written by a newer Lycosa (format ${version}, this one knows ${schemaVersion}). Update Lycosa, or start anew with lycosa job clear ${folder}.`,
    );
  }
  if (version === 0) {
    if (wasKilled) throw unusable(folder, 'it was emptied after a run that was killed');
    return;
  }
  const { quick_check: verdict } = db.prepare('PRAGMA quick_check(1)').get() as {
    quick_check: string;
  };
  if (verdict !== 'ok') throw unusable(folder, verdict.replaceAll(/\s+/g, ' '));
}

function unusable(folder: string, cause: unknown): UsageError {
  const why = typeof cause === 'string' ? cause : toError(cause).message;
  const path = jobPath(folder);
  const ways = hasBytes(path)
    ? `If it is damaged, save what can be read with lycosa job repair ${folder}, or start anew with lycosa job clear ${folder}.`
    : `JOBDIR must name a folder that can be written to; lycosa job clear ${folder} starts anew.`;
  return new UsageError(`${path} cannot be opened as a job: ${why}. ${ways}`, { cause });
}

function hasBytes(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function holder(folder: string): string {
  try {
    return readFileSync(join(folder, 'job.lock'), 'utf8');
  } catch {
    return 'another process';
  }
}

/** JSON without keys that could become a prototype. */
function parsePlain(text: string): unknown {
  return JSON.parse(text, function (this: unknown, key: string, value: unknown) {
    return key === '__proto__' ? undefined : value;
  });
}
