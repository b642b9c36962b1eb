import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { makeFolder, syncFolder } from '../files/durable.ts';
import type { Instant } from '../time/clock.ts';
import { databaseErrors } from './errors.ts';
import { type Database, typedError } from './sqlite.ts';

/** What a repair found and did; said to people and kept in the journal. */
export interface Repair {
  /** Where the damaged file was put aside. */
  readonly aside: string;
  readonly damage: string;
  /** The backup that filled the holes; absent when there was none. */
  readonly backup?: { readonly path: string; readonly at: Instant };
  readonly tables: readonly {
    readonly table: string;
    /** Rows read from the damaged file itself: as new as ever. */
    readonly kept: number;
    /** Rows taken from the backup: as they were then. */
    readonly restored: number;
    /** Row numbers that could not be read in the damaged file; what changed there after the backup is lost. */
    readonly unreadable?: { readonly from: number; readonly to: number };
  }[];
}

/** Undefined when the file is sound or not there; otherwise what is wrong with it. A quick look leaves out the indexes. */
export function damageOf(path: string, depth: 'quick' | 'full' = 'full'): string | undefined {
  if (!existsSync(path)) return undefined;
  let sql: DatabaseSync | undefined;
  try {
    sql = new DatabaseSync(path, { timeout: 200 });
    const rows = sql.prepare(depth === 'full' ? 'PRAGMA integrity_check(5)' : 'PRAGMA quick_check(5)').all();
    const found = rows.flatMap((row) => Object.values(row)).join('; ');
    return found === 'ok' ? undefined : found;
  } catch (error) {
    const typed = typedError(error, path);
    if (databaseErrors.Corrupt.is(typed)) return (error as Error).message;
    throw typed;
  } finally {
    sql?.close();
  }
}

/** Copies the live database into `folder` without stopping writes; keeps the newest `keep` copies. */
export async function backUp(database: Database, folder: string, now: Instant, keep = 3): Promise<string> {
  makeFolder(folder);
  // A clock that was set back must not make the newest copy look like the oldest.
  const last = backupsIn(folder, basename(database.path))[0]?.at ?? 0;
  const path = join(folder, `${basename(database.path)}.${String(Math.max(now, last + 1)).padStart(14, '0')}`);
  const draft = `${path}.new`;
  try {
    closeSync(openSync(draft, 'w', 0o600));
    await backup(database.sql, draft);
    const damage = damageOf(draft, 'quick');
    if (damage) throw new Error(`the copy is damaged: ${damage}`);
    const fd = openSync(draft, 'r+');
    fsyncSync(fd);
    closeSync(fd);
    renameSync(draft, path);
    syncFolder(folder);
  } finally {
    for (const rest of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${rest}`, { force: true });
  }
  for (const old of backupsIn(folder, basename(database.path)).slice(keep)) rmSync(old.path, { force: true });
  return path;
}

/** Newest first. */
function backupsIn(folder: string, name: string): { path: string; at: Instant }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.startsWith(`${name}.`) && /^\d{14}$/.test(file.slice(name.length + 1)))
    .map((file) => ({ path: join(folder, file), at: Number(file.slice(name.length + 1)) }))
    .sort((a, b) => b.at - a.at);
}

/**
 * Makes a damaged file whole again: every row that can still be read is kept, the unreadable stretches are filled from
 * the newest sound backup. The damaged file is put aside, never deleted, and stays in its place until its replacement is
 * whole: a repair that was broken off is begun again from what it had put aside. `schema` makes an empty database of the
 * current format at the path it is given.
 */
export function repair(
  path: string,
  backups: string,
  now: Instant,
  schema: (path: string) => void,
): Repair | undefined {
  const begun = brokenOff(path);
  const damage = begun === undefined ? damageOf(path) : (damageOf(begun) ?? 'an earlier repair was interrupted');
  if (damage === undefined) return undefined;
  const aside = begun ?? putAside(path, `${path}.damaged-${now}`);
  const sound = backupsIn(backups, basename(path)).find((each) => damageOf(each.path) === undefined);
  const draft = `${path}.repaired`;
  for (const rest of ['', '-wal', '-shm']) rmSync(`${draft}${rest}`, { force: true });
  schema(draft);
  const tables = fill(draft, aside, sound?.path);
  // SQLite would take the log of the damaged file for that of the new one.
  for (const rest of ['-wal', '-shm']) rmSync(`${path}${rest}`, { force: true });
  renameSync(draft, path);
  syncFolder(dirname(path));
  return { aside, damage, ...(sound && { backup: sound }), tables };
}

/** A second name for the file. It comes last: where it is, the log beside it is whole. */
function putAside(path: string, aside: string): string {
  if (existsSync(`${path}-wal`)) {
    copyFileSync(`${path}-wal`, `${aside}-wal`);
    const fd = openSync(`${aside}-wal`, 'r+');
    fsyncSync(fd);
    closeSync(fd);
  }
  linkSync(path, aside);
  syncFolder(dirname(path));
  return aside;
}

/** What was put aside and never replaced: it is still the file itself, or the file is gone. */
function brokenOff(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  const start = `${basename(path)}.damaged-`;
  if (!existsSync(dirname(path))) return undefined;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .toSorted((a, b) => Number(b.slice(start.length)) - Number(a.slice(start.length)))
    .map((name) => join(dirname(path), name))
    .find((aside) => file === undefined || statSync(aside).ino === file.ino);
}

function fill(target: string, damaged: string, backupPath: string | undefined): Repair['tables'] {
  const into = new DatabaseSync(target);
  const from = openQuietly(damaged);
  const spare = backupPath === undefined ? undefined : openQuietly(backupPath);
  try {
    into.exec('PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE');
    const tables = into
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all() as { name: string }[];
    const done = tables.map(({ name }) => fillTable(into, from, spare, name));
    into.exec('COMMIT');
    return done;
  } finally {
    into.close();
    from?.close();
    spare?.close();
  }
}

function fillTable(
  into: DatabaseSync,
  from: DatabaseSync | undefined,
  spare: DatabaseSync | undefined,
  table: string,
): Repair['tables'][number] {
  const insert = insertInto(into, table);
  let kept = 0;
  let restored = 0;
  const keep = (row: Row): void => {
    insert(row);
    kept += 1;
  };
  const restore = (row: Row): void => {
    insert(row);
    restored += 1;
  };
  const numbered = hasRowNumbers(into, table);
  const upwards = from ? readRows(from, table, 'ASC', numbered, keep) : { complete: false, last: 0 };
  if (upwards.complete) return { table, kept, restored };
  if (!numbered) {
    if (spare) readRows(spare, table, 'ASC', false, restore);
    return { table, kept, restored, unreadable: { from: kept + 1, to: kept + 1 } };
  }
  const downwards = from
    ? readRows(from, table, 'DESC', true, keep, upwards.last)
    : { complete: false, last: Number.MAX_SAFE_INTEGER };
  if (spare) readRows(spare, table, 'ASC', true, restore, upwards.last, downwards.last);
  const gap = { from: upwards.last + 1, to: Math.max(upwards.last + 1, downwards.last - 1) };
  return { table, kept, restored, unreadable: gap };
}

type Row = Record<string, SQLInputValue>;

function hasRowNumbers(sql: DatabaseSync, table: string): boolean {
  const found = sql.prepare('SELECT wr FROM pragma_table_list(?)').get(table) as { wr: number } | undefined;
  return found?.wr !== 1;
}

/** Reads row by row until the end or the first unreadable page. `last` is the row number reached. */
function readRows(
  sql: DatabaseSync,
  table: string,
  order: 'ASC' | 'DESC',
  numbered: boolean,
  take: (row: Row) => void,
  above = 0,
  below = Number.MAX_SAFE_INTEGER,
): { complete: boolean; last: number } {
  let last = order === 'ASC' ? above : below;
  try {
    const rows = numbered
      ? sql
          .prepare(
            `SELECT rowid AS row_number, * FROM "${table}" WHERE rowid > ? AND rowid < ? ORDER BY rowid ${order}`,
          )
          .iterate(above, below)
      : sql.prepare(`SELECT * FROM "${table}"`).iterate();
    for (const row of rows as Iterable<Row>) {
      if (numbered) last = Number(row['row_number']);
      take(row);
    }
    return { complete: true, last };
  } catch {
    return { complete: false, last };
  }
}

/** Inserts the columns that both sides know; a row that is there already stays. */
function insertInto(into: DatabaseSync, table: string): (row: Row) => void {
  const columns = (into.prepare(`PRAGMA table_info("${table}")`).all() as { name: string }[]).map(
    (column) => column.name,
  );
  const text = `INSERT OR IGNORE INTO "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  const statement = into.prepare(text);
  return (row) => void statement.run(...columns.map((name) => row[name] ?? null));
}

function openQuietly(path: string): DatabaseSync | undefined {
  try {
    return statSync(path).size > 0 ? new DatabaseSync(path) : undefined;
  } catch {
    return undefined;
  }
}
