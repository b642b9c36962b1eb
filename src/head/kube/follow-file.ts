import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

const most = 1 << 20;

/** Hands on what is appended to a file from now on, also when another takes its place under the same name. Returns its end. */
export function followFile(path: string, tell: (text: Buffer) => void, lookEvery = 500): () => void {
  let at = sizeOf(path);
  let inode = inodeOf(path);
  const timer = setInterval(() => {
    try {
      const file = openSync(path, 'r');
      try {
        const { ino, size } = fstatSync(file);
        if (ino !== inode || size < at) at = 0;
        inode = ino;
        const text = Buffer.alloc(Math.min(most, size - at));
        const read = readSync(file, text, 0, text.length, at);
        at += read;
        if (read > 0) tell(text.subarray(0, read));
      } finally {
        closeSync(file);
      }
    } catch {
      // It is not there yet, or is being replaced.
    }
  }, lookEvery).unref();
  return () => clearInterval(timer);
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
const inodeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
