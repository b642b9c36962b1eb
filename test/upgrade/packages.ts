// needs: older-manta
/** Packages of Manta as they are shipped: the one that users have, and the one of this tree. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The last commit of 0.1.0. */
const oldCommit = '223d0bb10400dade430cefd33dca725d7a423140';
export const oldVersion = '0.1.0';

/** The folder of the package of 0.1.0, built from its own sources and lock file; kept in the user's cache. */
export function oldPackage(): string {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta', 'packages');
  const folder = join(cache, `${oldVersion}-${oldCommit}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const tree = mkdtempSync(join(cache, '.tree-'));
  const run = (program: string, ...args: readonly string[]): void =>
    void execFileSync(program, args, { cwd: tree, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const archive = execFileSync('git', ['archive', oldCommit], { cwd: root, maxBuffer: 256 << 20 });
    execFileSync('tar', ['-x', '-C', tree], { input: archive });
    run('npm', 'ci', '--silent');
    run(process.execPath, 'scripts/build.ts');
    const draft = mkdtempSync(join(cache, '.package-'));
    for (const part of ['bin', 'dist', 'package.json'])
      cpSync(join(tree, part), join(draft, part), { recursive: true });
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
  return folder;
}

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
