import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { databaseErrors } from './errors.ts';

/** What brings the file from one format to the next. Position in the list plus one is the format it makes. */
export type Migration = (sql: DatabaseSync) => void;

export interface Database {
  readonly path: string;
  /** For reading only: sees what is committed, and inside a write what that batch has written. */
  readonly sql: DatabaseSync;
  /** A statement, compiled once. */
  prepare(text: string): StatementSync;
  /**
   * Run `change` in a transaction and resolve with its result once it is on disk. All writes asked for in one turn of
   * the event loop share one commit, in the order asked; one that throws is undone alone and rejects alone. When the
   * commit itself fails, all of them reject and nothing of them is kept.
   */
  write<Result>(change: () => Result): Promise<Result>;
  /** Called after each batch, before its writes resolve: committed, or discarded as a whole. */
  onBatch(listener: (committed: boolean) => void): void;
  /** Commit what waits, then close. */
  close(): void;
}

interface Waiting {
  readonly change: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens the database: write-ahead log, every commit synced, and locked against every other process for as long as this
 * one lives (the lock goes with the process, however it ends).
 */
export function openDatabase(path: string, migrations: readonly Migration[]): Database {
  const sql = connect(path);
  migrate(sql, path, migrations);

  const statements = new Map<string, StatementSync>();
  const listeners: ((committed: boolean) => void)[] = [];
  let waiting: Waiting[] = [];
  let scheduled = false;
  let closed = false;

  const flush = (): void => {
    scheduled = false;
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const answers: (() => void)[] = [];
    try {
      sql.exec('BEGIN IMMEDIATE');
      for (const each of batch) answers.push(runAlone(sql, each));
      sql.exec('COMMIT');
    } catch (error) {
      if (sql.isTransaction) sql.exec('ROLLBACK');
      for (const listener of listeners) listener(false);
      const typed = typedError(error, path);
      for (const each of batch) each.reject(typed);
      return;
    }
    for (const listener of listeners) listener(true);
    for (const answer of answers) answer();
  };

  return {
    path,
    sql,
    prepare(text) {
      let statement = statements.get(text);
      if (!statement) {
        statement = sql.prepare(text);
        statements.set(text, statement);
      }
      return statement;
    },
    write<Result>(change: () => Result): Promise<Result> {
      if (closed) return Promise.reject(databaseErrors.Closed({ path }));
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ change, resolve: resolve as (value: unknown) => void, reject });
        if (scheduled) return;
        scheduled = true;
        setImmediate(flush);
      });
    },
    onBatch: (listener) => void listeners.push(listener),
    close() {
      if (closed) return;
      flush();
      closed = true;
      sql.close();
    },
  };
}

/** Runs one write under a savepoint; its answer is given when the batch is on disk. */
function runAlone(sql: DatabaseSync, write: Waiting): () => void {
  sql.exec('SAVEPOINT one');
  try {
    const result = write.change();
    sql.exec('RELEASE one');
    return () => write.resolve(result);
  } catch (error) {
    // A full or failing disk may have undone the transaction already, and the others with it.
    if (isOfTheDisk(error) || !sql.isTransaction) throw error;
    sql.exec('ROLLBACK TO one; RELEASE one');
    return () => write.reject(error);
  }
}

function connect(path: string): DatabaseSync {
  // SQLite gives its side files the mode of the main one.
  closeSync(openSync(path, 'a', 0o600));
  const sql = new DatabaseSync(path, { timeout: 200 });
  try {
    sql.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    sql.exec(
      'PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; BEGIN IMMEDIATE; COMMIT',
    );
    return sql;
  } catch (error) {
    sql.close();
    throw typedError(error, path);
  }
}

function migrate(sql: DatabaseSync, path: string, migrations: readonly Migration[]): void {
  const found = formatOf(sql);
  if (found > migrations.length) {
    sql.close();
    throw databaseErrors.Newer({ path, found, known: migrations.length });
  }
  try {
    for (const [index, migration] of migrations.entries()) {
      if (index < found) continue;
      sql.exec('BEGIN IMMEDIATE');
      migration(sql);
      sql.exec(`PRAGMA user_version = ${index + 1}; COMMIT`);
    }
  } catch (error) {
    if (sql.isTransaction) sql.exec('ROLLBACK');
    sql.close();
    throw typedError(error, path);
  }
}

/** The format of the file, 0 when it is new. */
export function formatOf(sql: DatabaseSync): number {
  return Number((sql.prepare('PRAGMA user_version').get() as { user_version: number }).user_version);
}

/** SQLite's result codes; the extended part is left out. */
const result = { busy: 5, locked: 6, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 };
const resultOf = (error: unknown): number | undefined =>
  (error as { code?: string }).code === 'ERR_SQLITE_ERROR' ? (error as { errcode: number }).errcode & 0xff : undefined;

const isOfTheDisk = (error: unknown): boolean =>
  [result.ioError, result.corrupt, result.full, result.notADatabase].includes(resultOf(error) ?? 0);

/** Gives failures of the disk, of the file and of the lock their own types; leaves everything else as it is. */
export function typedError(error: unknown, path: string): unknown {
  const detail = (error as Error).message;
  switch (resultOf(error)) {
    case result.busy:
    case result.locked:
      return databaseErrors.InUse({ path }, error);
    case result.ioError:
    case result.full:
      return databaseErrors.DiskFull({ path, detail }, error);
    case result.corrupt:
    case result.notADatabase:
      return databaseErrors.Corrupt({ path, detail }, error);
    default:
      return error;
  }
}
