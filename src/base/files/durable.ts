/**
 * What must be there after a power cut. Until a file is synced its bytes may be missing, in part or all, and until its
 * folder is synced its name may be the old one: a file or a tree is written beside its place, synced, renamed, and then
 * the folder is synced. After each step a power cut leaves the old state or the new one, whole.
 * `test/base/power-cut/power-cut.test.ts` proves it on what the kernel was asked to do.
 */
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

let drafts = 0;

export interface WriteOptions {
  /** @default 0600 */
  readonly mode?: number;
  /** False: a power cut may take it, or leave it empty; nothing waits for the disk. @default true */
  readonly lasting?: boolean;
}

/** The file has this content, on disk, when it returns; a crash never leaves half of it. */
export function writeDurably(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  const draft = writeDraft(path, content, options);
  try {
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  if (options.lasting ?? true) syncFolder(dirname(path));
}

/** As `writeDurably`, but only where no file is. False when there was one. */
export function createDurably(path: string, content: string, options: WriteOptions = {}): boolean {
  const draft = writeDraft(path, content, options);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
  if (options.lasting ?? true) syncFolder(dirname(path));
  return true;
}

/** Makes a folder that only this user can enter, with its parents. */
export function makeFolder(path: string): string {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  // A file can be synced as often as one likes: without the names above it, it is not there.
  if (first !== undefined)
    for (let made = path; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
  return path;
}

/** Puts a draft, a file or a whole tree, in its place on the same disk. */
export async function moveDurably(draft: string, target: string): Promise<void> {
  await syncTree(draft);
  await rename(draft, target);
  await syncAll([dirname(target)]);
}

/** Syncs a file, or a folder with all that is in it. */
export async function syncTree(path: string): Promise<void> {
  const within = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [];
    throw error;
  });
  const kept = within.filter((entry) => entry.isFile() || entry.isDirectory());
  await syncAll([path, ...kept.map((entry) => join(entry.parentPath, entry.name))]);
}

/** One after the other, a disk writes its own journal for each; many at once, it does so for all of them together. */
const atOnce = 16;

/** Syncs files and folders, each by itself. */
export async function syncAll(paths: readonly string[]): Promise<void> {
  const left = paths.values();
  const work = async (): Promise<void> => {
    for (const path of left) {
      const file = await open(path, 'r');
      try {
        await file.sync().catch(unlessUnable);
      } finally {
        await file.close();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, paths.length) }, work));
}

/** After names in a folder have changed by other means. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    unlessUnable(error);
  } finally {
    closeSync(folder);
  }
}

/** Some file systems cannot sync a folder, and keep names in order by themselves. */
function unlessUnable(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
}

function writeDraft(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, lasting = true }: WriteOptions,
): string {
  const draft = join(dirname(path), `.${process.pid}-${drafts++}.new`);
  try {
    const file = openSync(draft, 'w', mode);
    try {
      writeFileSync(file, content);
      // The umask may have taken bits away.
      fchmodSync(file, mode);
      if (lasting) fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // A full disk leaves an empty file: many of them would use up what is left.
    rmSync(draft, { force: true });
    throw error;
  }
  return draft;
}
