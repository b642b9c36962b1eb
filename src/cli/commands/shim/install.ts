import { resolve } from 'node:path';
import { installShim } from '../../../launcher/shim/shim.ts';
import type { Run } from '../../command.ts';
import { commands } from '../../commands.ts';
import { gcsWordsFromRay, wordsFromRay } from '../../parse/ray-words.ts';
import { quoted } from '../../quote.ts';

export const run: Run = async ({ args }, io) => {
  const program = resolve(process.argv[1] ?? 'manta');
  const { file, real } = installShim(resolve(io.cwd, args[0]!), {
    words: wordsFromRay(commands),
    gcsWords: gcsWordsFromRay(commands),
    node: quoted(process.execPath),
    program: quoted(program),
    path: io.env['PATH'] ?? '',
    events: io.events,
  });
  if (io.json) io.out(`${JSON.stringify({ file, manta: program, real })}\n`);
  else
    io.out(
      `${file} sends cluster and job commands to Manta${real === undefined ? '' : `, and all others to ${real}`}.\n`,
    );
  return 0;
};
