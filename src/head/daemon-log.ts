import { readFileSync } from 'node:fs';
import type { StateFolder } from './state-folder.ts';

const isNoStack = /^(?!\s*at )/;

/** The last line of the daemon's log that belongs to no stack of calls: what it said before it ended. */
export function lastLogLine({ files }: StateFolder): string {
  try {
    const lines = readFileSync(files.daemonLog, 'utf8').trim().split('\n');
    return lines.findLast((line) => isNoStack.test(line)) ?? 'it said nothing';
  } catch {
    return 'it said nothing';
  }
}
