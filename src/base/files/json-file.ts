import { readdirSync, readFileSync } from 'node:fs';
import { createDurably, writeDurably } from './durable.ts';

export { makeFolder } from './durable.ts';

/** Writes the file whole or not at all: a reader, a crash or a power cut never meets half of it. Readable by this user only. */
export const writeJson = (path: string, value: unknown): void => writeDurably(path, JSON.stringify(value));

/** As `writeJson`, but only where no file is. False when there was one. */
export const createJson = (path: string, value: unknown): boolean => createDurably(path, JSON.stringify(value));

/** The file's value; undefined when there is none. A file that is not JSON throws. */
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

/**
 * As `writeJson`, for what means nothing once this machine has been off: who serves, who holds a lock, what runs. It
 * waits for no disk. After a power cut the file may be old, empty or gone; read it with `readLiveJson`.
 */
export const writeLiveJson = (path: string, value: unknown): void =>
  writeDurably(path, JSON.stringify(value), { lasting: false });

/** As `writeLiveJson`, but only where no file is. False when there was one. */
export const createLiveJson = (path: string, value: unknown): boolean =>
  createDurably(path, JSON.stringify(value), { lasting: false });

/** The file's value; undefined when there is none, and for what a power cut left of one. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what a file of ours holds is known where it is read
export function readLiveJson<T>(path: string): T | undefined {
  try {
    return readJson<T>(path);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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
