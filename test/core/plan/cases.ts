/** Recorded input and output of Ray's own functions, read from beside the repository where they are. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Case {
  readonly test: string;
  readonly in: { readonly args: readonly unknown[]; readonly kwargs: Readonly<Record<string, unknown>> };
  readonly out: unknown;
}

const folder = new URL('../../../../shared/cases/', import.meta.url);

/** Why a test that needs the recorded cases cannot run; undefined when it can. */
export function missingCases(file: string): string | undefined {
  return existsSync(fileURLToPath(new URL(file, folder)))
    ? undefined
    : `shared/cases/${file} is not beside the repository`;
}

export function readCases(file: string): Case[] {
  return readFileSync(new URL(file, folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Case);
}
