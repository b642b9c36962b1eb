import { closeSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { controlPath } from './control.ts';
import type { SshTarget } from './target.ts';

/**
 * A client that keeps its connection silences the command on its way to the host, and with it the reason why that one
 * failed. So the command's words go to a file beside the socket, from where they are read after a failure.
 */
export const proxyLog = (target: SshTarget): string => `${controlPath(target)}.log`;

const largest = 64_000;

/** From now on: what the commands on the way to the target say. */
export function listenToProxies(target: SshTarget): () => string {
  const files: string[] = [];
  for (let each: SshTarget | undefined = target; each; each = each.jump)
    if (each.jump !== undefined || each.proxyCommand !== undefined) files.push(proxyLog(each));
  const before = files.map((file) => ({ file, size: sizeOf(file) }));
  return () => before.map(({ file, size }) => textFrom(file, size)).join('');
}

function sizeOf(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= largest) return size;
  truncateSync(file);
  return 0;
}

function textFrom(file: string, from: number): string {
  const length = Math.min((statSync(file, { throwIfNoEntry: false })?.size ?? 0) - from, largest);
  if (length <= 0) return '';
  const bytes = Buffer.alloc(length);
  const fd = openSync(file, 'r');
  try {
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, length, from));
  } finally {
    closeSync(fd);
  }
}
