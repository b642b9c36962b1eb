import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { endingFile } from '../../providers/process/record.ts';
import type { StateFolder } from '../state-folder.ts';

export interface LastWords {
  readonly text: string;
  /** It chose to end, such as with its head: nothing is wrong with the node itself. */
  readonly byItself: boolean;
}

/** What a node said last, when it ended before anybody wanted that; undefined for one that was told to. */
export function lastWords({ files }: StateFolder, instance: string): LastWords | undefined {
  const at = [join(files.instances, instance), join(files.instances, '.ended', instance)].find(existsSync);
  if (at !== undefined && existsSync(endingFile(at))) return undefined;
  const said = at === undefined ? undefined : join(at, 'agent.log');
  const text =
    said === undefined || !existsSync(said) ? '' : stripVTControlCharacters(readFileSync(said, 'utf8')).trim();
  // Of a Ray that failed on its own the lines of errors say why.
  const lines = text.split('\n');
  const errors = lines.filter((line) => /\bERR\b|Error\b|error:/.test(line));
  return {
    text: (errors.length > 0 ? errors : lines).slice(-5).join(' | ').slice(-1_000) || 'it said nothing',
    byItself: lines.some((line) => /^\S+Z ending: /.test(line)),
  };
}
