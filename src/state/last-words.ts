import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { readJson } from '../base/files/json-file.ts';
import { endingFile } from '../providers/process/record.ts';
import { type RayletEnd, rayletEndFile } from './raylet-end.ts';
import type { StateFolder } from './state-folder.ts';

export interface LastWords {
  readonly text: string;
  /**
   * Something is wrong with the node itself: it did not choose to end, as it does with its head, and was not killed from
   * outside, of which it says nothing.
   */
  readonly failed: boolean;
}

/** What a node said last, when it ended before anybody wanted that; undefined for one that was told to. */
export function lastWords({ files }: StateFolder, instance: string): LastWords | undefined {
  const at = [join(files.instances, instance), join(files.instances, '.ended', instance)].find(existsSync);
  if (at !== undefined && existsSync(endingFile(at))) return undefined;
  const end = at === undefined ? undefined : readJson<RayletEnd>(rayletEndFile(at));
  const said = at === undefined ? undefined : join(at, 'agent.log');
  const text =
    said === undefined || !existsSync(said) ? '' : stripVTControlCharacters(readFileSync(said, 'utf8')).trim();
  // Of a Ray that failed on its own the lines of errors say why.
  const lines = text.split('\n');
  const errors = lines.filter((line) => /\bERR\b|Error\b|error:/.test(line));
  return {
    text: (errors.length > 0 ? errors : lines).slice(-5).join(' | ').slice(-1_000) || 'no output',
    failed: end === undefined ? errors.length > 0 : end.by === 'ray',
  };
}
