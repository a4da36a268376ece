import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { UsageError } from '../errors.js';
import { deserializeRequest, serializeRequest } from '../http/serialize.js';
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
export function compareRanks(a, b) {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
/**
 * The file of one job, `JOBDIR/job.sqlite`: what waits, what has been seen, and the state of the crawl.
 *
 * Writes are gathered and committed together. A request stays in the file until it is done, so after `kill -9` the
 * next run finds everything that was not.
 */
export class JobFile {
  folder;
  #db;
  #insert;
  #delete;
  #see;
  #start;
  #set;
  #isWriting = false;
  #lastId;
  constructor(folder, db) {
    this.folder = folder;
    this.#db = db;
    this.#insert = db.prepare('INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#delete = db.prepare('DELETE FROM requests WHERE id = ?');
    this.#see = db.prepare('INSERT OR IGNORE INTO seen VALUES (?)');
    this.#start = db.prepare('INSERT OR IGNORE INTO started VALUES (?)');
    this.#set = db.prepare(
      'INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    );
    const { last } = db.prepare('SELECT max(id) AS last FROM requests').get();
    this.#lastId = Math.max(last ?? 0, Number(this.get('lastId') ?? 0));
  }
  /**
   * Opens or makes the job of a folder, for this process alone.
   *
   * @throws UsageError when another process holds it, or a newer Lycosa wrote it.
   */
  static async open(folder) {
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
      const { user_version: version } = db.prepare('PRAGMA user_version').get();
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
      if (cause.message.includes('locked')) {
        throw new UsageError(
          `The job in ${folder} is being run by ${holder(folder)}. One process runs a job at a time.`,
          { cause },
        );
      }
      throw new UsageError(`${path} cannot be opened as a job: ${cause.message}`, {
        cause,
      });
    }
    writeFileSync(join(folder, 'job.lock'), `process ${process.pid} on ${hostname()}`);
    return new JobFile(folder, db);
  }
  /** True if an earlier run has left its mark. */
  get isResumed() {
    return this.get('runs') !== undefined;
  }
  add(slot, rank, request, fingerprint) {
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
  remove(id) {
    this.#write();
    this.#delete.run(id);
  }
  markStarted(fingerprint) {
    this.#write();
    this.#start.run(fingerprint);
  }
  /** Pending entries of a slot worse than `after`, the best first. Entries that cannot be read are set aside. */
  best(slot, after, limit) {
    const [a, b, c] = after ?? [-Number.MAX_SAFE_INTEGER, 0, 0];
    const rows = this.#db
      .prepare(
        'SELECT id, rank1, rank2, rank3, data FROM requests WHERE slot = ? AND (rank1, rank2, rank3) > (?, ?, ?) ORDER BY rank1, rank2, rank3 LIMIT ?',
      )
      .all(slot, a, b, c, limit);
    return rows.map(({ id, rank1, rank2, rank3, data }) => ({
      id,
      rank: [rank1, rank2, rank3],
      request: deserializeRequest(data),
    }));
  }
  slots() {
    return this.#db.prepare('SELECT slot, count(*) AS count FROM requests GROUP BY slot').all();
  }
  *seen(table) {
    for (const row of this.#db.prepare(`SELECT fingerprint FROM ${table}`).iterate()) {
      yield Buffer.from(row.fingerprint);
    }
  }
  /** A value of the state, JSON. */
  get(key) {
    const row = this.#db.prepare('SELECT value FROM state WHERE key = ?').get(key);
    return row === undefined ? undefined : JSON.parse(row.value);
  }
  set(key, value) {
    this.#write();
    this.#set.run(key, JSON.stringify(value));
  }
  get hasWrites() {
    return this.#isWriting;
  }
  /** What was written since the last commit becomes part of the job, all or nothing. */
  commit() {
    if (!this.#isWriting) return;
    this.#set.run('lastId', String(this.#lastId));
    this.#db.exec('COMMIT');
    this.#isWriting = false;
  }
  close() {
    this.commit();
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#db.close();
    rmSync(join(this.folder, 'job.lock'), { force: true });
  }
  #write() {
    if (this.#isWriting) return;
    this.#db.exec('BEGIN');
    this.#isWriting = true;
  }
}
function holder(folder) {
  try {
    return readFileSync(join(folder, 'job.lock'), 'utf8');
  } catch {
    return 'another process';
  }
}
//# sourceMappingURL=job.js.map
