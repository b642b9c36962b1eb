/** The Manta that users have, built from its own sources and lock file; kept in the user's cache. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The last commit of 0.1.0. */
const commit = '223d0bb10400dade430cefd33dca725d7a423140';
export const olderVersion = '0.1.0';

/** The folder of its package; built where it is not there yet. */
export function olderManta(say: (line: string) => void = () => {}): string {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta', 'packages');
  const folder = join(cache, `${olderVersion}-${commit}`);
  if (existsSync(folder)) return folder;
  say(`building Manta ${olderVersion}`);
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, '.build-'));
  const tree = join(work, 'tree');
  const draft = join(work, 'package');
  try {
    mkdirSync(tree);
    execFileSync('tar', ['-x', '-C', tree], { input: sourcesOf(commit) });
    const run = (program: string, ...args: readonly string[]): void =>
      void execFileSync(program, args, { cwd: tree, stdio: ['ignore', 'ignore', 'pipe'] });
    run('npm', 'ci', '--silent');
    run(process.execPath, 'scripts/build.ts');
    for (const part of ['bin', 'dist', 'package.json'])
      cpSync(join(tree, part), join(draft, part), { recursive: true });
    renameSync(draft, folder);
  } catch (error) {
    // Somebody else may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** A tar archive of a commit of this repository, whoever owns its folder. */
export function sourcesOf(of: string, repository: string = root): Buffer {
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-c', 'safe.directory=*', ...args], { cwd: repository, maxBuffer: 256 << 20 });
  const archive = git('archive', of);
  if (archive.error) throw new Error(`git could not be run: ${archive.error.message}`, { cause: archive.error });
  if (archive.status === 0) return archive.stdout;
  if (git('cat-file', '-e', `${of}^{commit}`).status !== 0)
    throw new Error(`needs the history back to ${of.slice(0, 12)}: git fetch --unshallow`);
  throw new Error(`git archive failed: ${archive.stderr.toString().trim()}`);
}
