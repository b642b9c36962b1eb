import { readFileSync } from 'node:fs';
import type { StateFolder } from './state-folder.ts';

const isNoStack = /^(?!\s*at )/;

/** The last line of the daemon's log that is as wanted: what it said before it ended. */
export function lastWords({ files }: StateFolder, wanted: RegExp = isNoStack): string {
  try {
    const lines = readFileSync(files.daemonLog, 'utf8').trim().split('\n');
    return lines.findLast((line) => wanted.test(line)) ?? 'it said nothing';
  } catch {
    return 'it said nothing';
  }
}
