import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

let drafts = 0;

/** Writes the file whole or not at all: a reader, or a crash, never meets half of it. Readable by this user only. */
export function writeJson(path: string, value: unknown): void {
  renameSync(writeDraft(path, value), path);
}

/** As `writeJson`, but only where no file is. False when there was one. */
export function createJson(path: string, value: unknown): boolean {
  const draft = writeDraft(path, value);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** The file's value; undefined when there is none. A file that is no JSON throws. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what a file of ours holds is known where it is read
export function readJson<T>(path: string): T | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
  return JSON.parse(text) as T;
}

/** Names in a folder; none when there is no folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Makes a folder that only this user can enter, with its parents. */
export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

function writeDraft(path: string, value: unknown): string {
  const draft = join(dirname(path), `.${process.pid}-${drafts++}.new`);
  try {
    writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
  } catch (error) {
    // A full disk leaves an empty file: many of them would use up what is left.
    rmSync(draft, { force: true });
    throw error;
  }
  return draft;
}
