import { closeSync, existsSync, openSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../base/files/json-file.ts';
import { type Repair, repair } from '../../base/sqlite/repair.ts';
import { type Database, formatOf, type Migration, openDatabase } from '../../base/sqlite/sqlite.ts';
import type { Instant } from '../../base/time/clock.ts';
import { jobsSchema } from '../../jobs/queue/schema.ts';
import { eventMigration } from './event-log.ts';
import { scalingMigration } from './scaling-journal.ts';

/** Only ever added to at the end: the position is the format. */
const migrations: readonly Migration[] = [jobsSchema, scalingMigration, eventMigration];

/** The head's database. A damaged one is repaired first, and what was done is told. */
export function openHeadDatabase(
  path: string,
  backups: string,
  now: Instant,
): { readonly database: Database; readonly repaired?: Repair } {
  const repaired = repair(path, backups, now, (draft) => openDatabase(draft, migrations).close());
  copyBeforeMigration(path, backups, now);
  return { database: openDatabase(path, migrations), ...(repaired && { repaired }) };
}

/** A file of an earlier format is kept as it was: anyone who goes back to the earlier Manta can have it. */
function copyBeforeMigration(path: string, backups: string, now: Instant): void {
  if (!existsSync(path)) return;
  const sql = new DatabaseSync(path);
  try {
    const found = formatOf(sql);
    if (found === 0 || found >= migrations.length) return;
    const copy = join(makeFolder(backups), `${basename(path)}.${String(now).padStart(14, '0')}.format-${found}`);
    closeSync(openSync(copy, 'w', 0o600));
    sql.prepare('VACUUM INTO ?').run(copy);
  } finally {
    sql.close();
  }
}

/** Stands for the end of a table whose last row could not be found. */
const lastRow = Number.MAX_SAFE_INTEGER - 1;

/** What a repair could not bring back, in words. */
export function repairWords({ aside, backup, tables }: Repair): string {
  const rows = tables
    .filter((table) => table.restored > 0 || table.unreadable !== undefined)
    .map(({ table, kept, restored, unreadable }) => {
      const end = unreadable && unreadable.to < lastRow ? `to ${unreadable.to}` : 'and later';
      const lost = unreadable ? `, rows ${unreadable.from} ${end} were unreadable` : '';
      return `${table}: ${kept} rows kept, ${restored} from the backup${lost}`;
    });
  const source = backup ? `the backup of ${new Date(backup.at).toISOString()}` : 'no backup';
  return `${source}; ${rows.join('; ') || 'every row was kept'}; the damaged file is ${aside}`;
}
