import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { UsageError } from '../errors.ts';
import type { Request } from '../http/request.ts';
import { deserializeRequest, serializeRequest } from '../http/serialize.ts';

/** Raised when the tables change; an older Lycosa refuses a newer file. */
const schemaVersion = 1;

const schema = `
CREATE TABLE IF NOT EXISTS requests (
  id INTEGER PRIMARY KEY, slot TEXT NOT NULL, rank1 INTEGER NOT NULL, rank2 INTEGER NOT NULL, rank3 INTEGER NOT NULL,
  due INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS best ON requests (slot, rank1, rank2, rank3);
CREATE TABLE IF NOT EXISTS seen (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS started (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** The order of requests in a slot: lower first, compared part by part. */
export type Rank = readonly [priority: number, isStart: number, turn: number];

export function compareRanks(a: Rank, b: Rank): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** An entry as it is stored. */
export interface JobEntry {
  readonly id: number;
  readonly rank: Rank;
  readonly request: Request;
}

/**
 * The file of one job, `JOBDIR/job.sqlite`: what waits, what has been seen, and the state of the crawl.
 *
 * Writes are gathered and committed together. A request stays in the file until it is done, so after `kill -9` the
 * next run finds everything that was not.
 */
export class JobFile {
  readonly folder: string;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #see: StatementSync;
  readonly #start: StatementSync;
  readonly #set: StatementSync;
  #isWriting = false;
  #lastId: number;

  private constructor(folder: string, db: DatabaseSync) {
    this.folder = folder;
    this.#db = db;
    this.#insert = db.prepare('INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM requests WHERE id = ?');
    this.#see = db.prepare('INSERT OR IGNORE INTO seen VALUES (?)');
    this.#start = db.prepare('INSERT OR IGNORE INTO started VALUES (?)');
    this.#set = db.prepare(
      'INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    );
    const { last } = db.prepare('SELECT max(id) AS last FROM requests').get() as {
      last: number | null;
    };
    this.#lastId = Math.max(last ?? 0, Number(this.get('lastId') ?? 0));
  }

  /**
   * Opens or makes the job of a folder, for this process alone.
   *
   * @throws UsageError when another process holds it, or a newer Lycosa wrote it.
   */
  static async open(folder: string): Promise<JobFile> {
    // Loaded here: a crawl without JOBDIR does not pay for it.
    const { DatabaseSync } = await import('node:sqlite');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'job.sqlite');
    const db = new DatabaseSync(path);
    try {
      db.exec(
        'PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;',
      );
      db.exec('BEGIN IMMEDIATE; COMMIT;');
      const { user_version: version } = db.prepare('PRAGMA user_version').get() as {
        user_version: number;
      };
      if (version > schemaVersion) {
        throw new UsageError(
          `${path} was written by a newer Lycosa (format ${version}, this one knows ${schemaVersion}). Update Lycosa, or start anew with lycosa job clear ${folder}.`,
        );
      }
      db.exec(schema);
      db.exec(`PRAGMA user_version = ${schemaVersion}`);
      chmodSync(path, 0o600);
    } catch (cause) {
      db.close();
      if (cause instanceof UsageError) throw cause;
      if ((cause as Error).message.includes('locked')) {
        throw new UsageError(
          `The job in ${folder} is being run by ${holder(folder)}. One process runs a job at a time.`,
          { cause },
        );
      }
      throw new UsageError(`${path} cannot be opened as a job: ${(cause as Error).message}`, {
        cause,
      });
    }
    writeFileSync(join(folder, 'job.lock'), `process ${process.pid} on ${hostname()}`);
    return new JobFile(folder, db);
  }

  /** True if an earlier run has left its mark. */
  get isResumed(): boolean {
    return this.get('runs') !== undefined;
  }

  add(
    slot: string,
    rank: (id: number) => Rank,
    request: Request,
    fingerprint: Uint8Array | undefined,
  ): JobEntry {
    const id = ++this.#lastId;
    const [rank1, rank2, rank3] = rank(id);
    this.#write();
    if (fingerprint) this.#see.run(fingerprint);
    this.#insert.run(
      id,
      slot,
      rank1,
      rank2,
      rank3,
      request.notBefore ?? 0,
      serializeRequest(request),
    );
    return { id, rank: [rank1, rank2, rank3], request };
  }

  remove(id: number): void {
    this.#write();
    this.#delete.run(id);
  }

  markStarted(fingerprint: Uint8Array): void {
    this.#write();
    this.#start.run(fingerprint);
  }

  /** Pending entries of a slot worse than `after`, the best first. Entries that cannot be read are set aside. */
  best(slot: string, after: Rank | undefined, limit: number): JobEntry[] {
    const [a, b, c] = after ?? [-Number.MAX_SAFE_INTEGER, 0, 0];
    const rows = this.#db
      .prepare(
        'SELECT id, rank1, rank2, rank3, data FROM requests WHERE slot = ? AND (rank1, rank2, rank3) > (?, ?, ?) ORDER BY rank1, rank2, rank3 LIMIT ?',
      )
      .all(slot, a, b, c, limit) as {
      id: number;
      rank1: number;
      rank2: number;
      rank3: number;
      data: string;
    }[];
    return rows.map(({ id, rank1, rank2, rank3, data }) => ({
      id,
      rank: [rank1, rank2, rank3] as const,
      request: deserializeRequest(data),
    }));
  }

  slots(): { slot: string; count: number }[] {
    return this.#db.prepare('SELECT slot, count(*) AS count FROM requests GROUP BY slot').all() as {
      slot: string;
      count: number;
    }[];
  }

  *seen(table: 'seen' | 'started'): Generator<Buffer> {
    for (const row of this.#db.prepare(`SELECT fingerprint FROM ${table}`).iterate()) {
      yield Buffer.from((row as { fingerprint: Uint8Array }).fingerprint);
    }
  }

  /** A value of the state, JSON. */
  get(key: string): unknown {
    const row = this.#db.prepare('SELECT value FROM state WHERE key = ?').get(key) as
      | { value: string }
      | undefined;
    return row === undefined ? undefined : (JSON.parse(row.value) as unknown);
  }

  set(key: string, value: unknown): void {
    this.#write();
    this.#set.run(key, JSON.stringify(value));
  }

  get hasWrites(): boolean {
    return this.#isWriting;
  }

  /** What was written since the last commit becomes part of the job, all or nothing. */
  commit(): void {
    if (!this.#isWriting) return;
    this.#set.run('lastId', String(this.#lastId));
    this.#db.exec('COMMIT');
    this.#isWriting = false;
  }

  close(): void {
    this.commit();
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#db.close();
    rmSync(join(this.folder, 'job.lock'), { force: true });
  }

  #write(): void {
    if (this.#isWriting) return;
    this.#db.exec('BEGIN');
    this.#isWriting = true;
  }
}

function holder(folder: string): string {
  try {
    return readFileSync(join(folder, 'job.lock'), 'utf8');
  } catch {
    return 'another process';
  }
}
