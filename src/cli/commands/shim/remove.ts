import { resolve } from 'node:path';
import { removeShim } from '../../../launcher/shim/shim.ts';
import type { Run } from '../../command.ts';

export const run: Run = async ({ args }, io) => {
  const folder = resolve(io.cwd, args[0]!);
  const removed = removeShim(folder);
  if (io.json) io.out(`${JSON.stringify({ folder, removed })}\n`);
  else io.out(removed ? `Removed the shim from ${folder}.\n` : `There is no shim in ${folder}; nothing to do.\n`);
  return 0;
};
