import type { Command } from '../command.ts';

/** First words of the command lines of `ray` that Manta answers, in both spellings and with the old names. */
export const wordsFromRay = (commands: readonly Command[]): string[] =>
  firstWords(commands.filter(({ inRay }) => inRay !== undefined));

/** Those that Ray answers where they are given the address of a GCS. */
export const gcsWordsFromRay = (commands: readonly Command[]): string[] =>
  firstWords(commands.filter(({ inRay }) => inRay === 'gcs'));

function firstWords(commands: readonly Command[]): string[] {
  const words = commands.flatMap(({ path, formerly = [] }) => [path[0]!, ...(path.length === 1 ? formerly : [])]);
  return [...new Set(words.flatMap((word) => [word, word.replaceAll('-', '_')]))];
}
