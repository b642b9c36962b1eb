import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bringupErrors } from '../errors.ts';
import type { NodeFiles } from '../node/node.ts';
import { patternWords } from './rsync.ts';

const run = promisify(execFile);

/**
 * Changes when the files that would be copied change: by name, kind, mode, size, time of the last change or target of a
 * link. No file is read. What excludes and filters leave out does not count.
 */
export async function contentsFingerprint(files: NodeFiles): Promise<string> {
  const hash = createHash('sha256');
  const say = (...words: readonly unknown[]): void => void hash.update(`${words.join('\0')}\n`);
  for (const { remote, local, directory } of files.mounts) {
    say('mount', remote, directory);
    if ((await stat(local).catch(() => undefined)) === undefined)
      throw bringupErrors.SyncLocalMissing({ local, remote });
    if (!directory) say(...attributes(await stat(local, { bigint: true })));
    else for (const name of await namesBelow(local, files)) await describe(join(local, name), name, say);
  }
  return hash.digest('hex');
}

async function describe(path: string, name: string, say: (...words: readonly unknown[]) => void): Promise<void> {
  // Files come and go while the tree is read.
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return;
  const link = found.isSymbolicLink() ? await readlink(path).catch(() => '') : '';
  say(name, link, ...attributes(found));
}

/** The times of folders change with what is left out of them. */
const attributes = (found: BigIntStats): unknown[] =>
  found.isDirectory() ? [found.mode] : [found.mode, found.size, found.mtimeNs];

async function namesBelow(folder: string, files: NodeFiles): Promise<string[]> {
  if (files.exclude.length === 0 && files.filter.length === 0) return (await walk(folder, '')).sort();
  return (await listing(folder, files)).sort();
}

async function walk(folder: string, below: string): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  const names: string[] = [];
  for (const entry of entries) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    names.push(name);
    if (entry.isDirectory()) names.push(...(await walk(folder, name)));
  }
  return names;
}

/** What rsync would copy: only rsync knows what its patterns mean. */
async function listing(folder: string, files: NodeFiles): Promise<string[]> {
  try {
    const words = ['-r', '--links', '--list-only', '-8', ...patternWords(files), '--', `${folder}/`];
    const { stdout } = await run('rsync', words, { maxBuffer: 1 << 30, encoding: 'latin1' });
    return stdout.split('\n').flatMap((line) => {
      const found = /^(\S{10})\s+[\d,.]\S*\s+\S+ \S+ (.*)$/.exec(line);
      if (!found?.[2] || found[2] === '.') return [];
      const name = found[1]?.startsWith('l') ? (found[2].split(' -> ', 1)[0] ?? '') : found[2];
      const plain = name.replace(/\\#(\d{3})/g, (_all, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      );
      return [Buffer.from(plain, 'latin1').toString()];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw bringupErrors.SyncNoRsyncHere({}, error);
    throw error;
  }
}
