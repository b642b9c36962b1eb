import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Io } from '../../command.ts';

/** A path of this machine, whole; the slash at its end, which means something to rsync, stays. */
export function onThisSide(path: string, io: Io): string {
  const whole = resolve(io.cwd, path.replace(/^~(?=\/|$)/, homedir()));
  return /\/\.?$/.test(path) && whole !== '/' ? `${whole}/` : whole;
}
