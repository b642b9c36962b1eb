// needs: ray, hosts

/** Cluster files as their projects published them, from the collection beside this repository. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clusterProblem } from './cluster-bed.ts';

const folder = fileURLToPath(new URL('../../../shared/corpus/clusters/', import.meta.url));

export const corpusProblem = (): string | undefined =>
  clusterProblem() ??
  (existsSync(folder) ? undefined : 'the collection of cluster files (../shared/corpus) is not there');

/** What the file says, what it says in the lab, and why. */
export type Replacement = readonly [says: string, lab: string, why: string];

/** A file as it is but for what is replaced, which is told. A replacement that does not fit it is an error. */
export function corpusFile(file: string, replacements: readonly Replacement[], say: (line: string) => void): string {
  let text = readFileSync(`${folder}${file}`, 'utf8');
  for (const [says, lab, why] of replacements) {
    assert.ok(text.includes(says), `${file} does not say ${says}`);
    text = text.replaceAll(says, () => lab);
    say(`${file}: ${says} -> ${lab} (${why})`);
  }
  return text;
}

/** Podman takes limits that are given to it for all there are, and then asks for more than it may. */
export const podmanLimits = '--ulimit nofile=4096:4096 --ulimit nproc=4096:4096';
