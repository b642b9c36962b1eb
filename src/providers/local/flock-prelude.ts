import { readShell } from '../../base/shell/shell-file.ts';

/** Sh function `flock_9`. */
export const flockPrelude = readShell(new URL('./flock-prelude.sh', import.meta.url));
