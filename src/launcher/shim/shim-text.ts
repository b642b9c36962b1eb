import { readShell } from '../../base/shell/shell-file.ts';

const program = readShell(new URL('./ray-shim.sh', import.meta.url));

/** The second line of every shim; it is how a shim is told from a real ray. */
export const shimMark = '# manta shim: cluster and job commands go to Manta, all others to the next ray on PATH.';

export interface ShimRequest {
  /** First words of command lines that Manta answers. */
  readonly words: readonly string[];
  /** Those of them that mean Ray itself where the address of a GCS is given. */
  readonly gcsWords: readonly string[];
  /** The Node that starts Manta, and the file that it starts, each as a word of a shell. */
  readonly node: string;
  readonly program: string;
}

/**
 * A `ray` in plain sh: what is not for Manta costs no Node. Words of the shell that it uses are only those that every sh
 * has, and nothing of the user's words is ever read as shell text.
 */
export const shimText = ({ words, gcsWords, node, program: manta }: ShimRequest): string => `#!/bin/sh
${shimMark}
# Created by 'manta shim install'; 'manta shim remove' removes it.

manta_words='${words.join(' ')}'
manta_gcs_words='${gcsWords.join(' ')}'
manta_node=${node}
manta_program=${manta}
${program}`;
