import type { RunOptions } from '../base/host.ts';
import type { ProgramHost } from '../base/one-session.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import type { Place } from './node.ts';
import { rayStepErrors } from './ray-errors.ts';
import { sessionFile } from './ray-probe.ts';
import { markPattern, processText } from './ray-processes.ts';
import { bashAt } from './shell-text.ts';

export interface RayToEnd {
  readonly cluster: string;
  /** Only what was started for this instance; absent: for any of the cluster. */
  readonly instance?: string;
  /** Where it runs. @default on the host */
  readonly place?: Place;
}

export interface EndedProcess {
  readonly pid: number;
  readonly name: string;
}

export interface RayEnded {
  readonly ended: readonly EndedProcess[];
  /** What is still there: processes that this user may not end, or that do not end. */
  readonly left: readonly EndedProcess[];
}

/**
 * Ends Ray and everything that was started for a node, in one round trip. Raylets sign off first, so that the rest of the
 * cluster knows at once. Ending what has ended is no error. Other clusters' Rays on the host go on. A container stays:
 * `removeContainer` ends both. Throws where it could not be looked what runs there.
 */
export async function endRay(host: ProgramHost, what: RayToEnd, options: RunOptions): Promise<RayEnded> {
  const { stdout, stderr } = await host.sh(bashAt(what.place ?? { kind: 'host' }, endText(what)), options);
  if (!/^looked$/m.test(stdout) && !(what.place?.kind === 'container' && notThere.test(stderr)))
    throw rayStepErrors.NotEnded({ node: host.name, detail: stderr.trim().split('\n').at(-1) ?? '' });
  return readEnded(stdout);
}

/** What engines say of a container in which nothing runs. */
const notThere = /no such container|no container with name|is not running|on running containers/i;

/** Bash text that ends it, from inside its place. */
export function endText({ cluster, instance }: RayToEnd): string {
  return `${processText}
manta_end cluster ${shellQuoted(markPattern(cluster, instance))} ~/${shellQuoted(sessionFile(cluster))}
status=$?
echo looked
[[ $status = 0 ]] || exit $status
if read -r _ gcs folder 2>/dev/null <~/${shellQuoted(sessionFile(cluster))}; then
  # Ray's tools on this machine would go on trying the cluster that has ended.
  [[ $(cat "$folder/ray_current_cluster" 2>/dev/null) != "$gcs" ]] || rm -f "$folder/ray_current_cluster"
  rm -f ~/${shellQuoted(sessionFile(cluster))}
fi
`;
}

export function readEnded(output: string): RayEnded {
  const rows = [...output.matchAll(/^(ended|left) (\d+) (.*)$/gm)];
  const of = (kind: string): EndedProcess[] =>
    rows.filter((row) => row[1] === kind).map((row) => ({ pid: Number(row[2]), name: row[3] as string }));
  return { ended: of('ended'), left: of('left') };
}
