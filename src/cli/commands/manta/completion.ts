import { readScript } from '../../../base/shell/shell-file.ts';
import type { Run } from '../../command.ts';

/** Each asks `manta __complete` for what may come next. */
const scripts = {
  bash: readScript(new URL('./completion.bash', import.meta.url)),
  zsh: readScript(new URL('./completion.zsh', import.meta.url)),
  fish: readScript(new URL('./completion.fish', import.meta.url)),
};

export const run: Run = async ({ args }, io) => {
  io.out(scripts[args[0] as keyof typeof scripts]);
  return 0;
};
