import { readShell } from '../base/shell/shell-file.ts';

/** Functions for programs that ask which processes run. */
export const prelude = readShell(new URL('./prelude.sh', import.meta.url));
