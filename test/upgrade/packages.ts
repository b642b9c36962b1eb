// needs: older-manta
/** Packages of Manta as they are shipped: the one that users have (`scripts/older-manta.ts`), and the one of this tree. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { olderManta, olderVersion } from '../../scripts/older-manta.ts';

export { olderManta as oldPackage, olderVersion as oldVersion };

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A package of this tree in a folder of its own, which the caller removes. */
export function newPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'manta-package-'));
  for (const part of ['bin', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true });
  execFileSync(process.execPath, [join(root, 'scripts/build.ts'), join(folder, 'dist')], { stdio: 'ignore' });
  return folder;
}

/** A mantad that changes the journal to a format that no other version knows, and dies of it. */
export const deadlyMantad = `
import { DatabaseSync } from 'node:sqlite';
const [home, name] = process.argv.slice(2);
const sql = new DatabaseSync(home + '/clusters/' + name + '/journal.db');
sql.exec('CREATE TABLE IF NOT EXISTS later (x); DELETE FROM jobs; PRAGMA user_version = 99');
sql.close();
console.error('mantad could not start: it does not feel like it');
process.exit(1);
`;
