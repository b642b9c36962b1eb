import type { RunOptions } from '../../base/host.ts';
import type { ProgramHost } from '../../base/one-session.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { bringupErrors } from '../errors.ts';
import type { CommandPlace } from '../node/node.ts';
import { bashAt } from '../node/shell-text.ts';
import { sessionFile } from './probe.ts';
import { markPattern, processText } from './processes.ts';

const end = readShell(new URL('./ray-end.bash', import.meta.url));

export interface RayToEnd {
  readonly cluster: string;
  /** Only what was started for this instance; absent: for any of the cluster. */
  readonly instance?: string;
  /** Where it runs. @default on the host */
  readonly place?: CommandPlace;
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
 * cluster knows at once. Ending what has ended is not an error. Other clusters' Rays on the host go on. A container stays:
 * `removeContainer` ends both. Throws where it cannot find out what runs there.
 */
export async function endRay(host: ProgramHost, what: RayToEnd, options: RunOptions): Promise<RayEnded> {
  const { stdout, stderr } = await host.sh(bashAt(what.place ?? { kind: 'host' }, endText(what)), options);
  if (!/^looked$/m.test(stdout) && !(what.place?.kind === 'container' && notThere.test(stderr)))
    throw bringupErrors.RayNotEnded({ node: host.name, detail: stderr.trim().split('\n').at(-1) ?? '' });
  return readEnded(stdout);
}

/** What engines say of a container in which nothing runs. */
const notThere = /no such container|no container with name|is not running|on running containers/i;

/** Bash text that ends it, from inside its place. */
export const endText = ({ cluster, instance }: RayToEnd): string =>
  shellProgram(`${processText}${end}`, {
    pattern: markPattern(cluster, instance),
    session_file: sessionFile(cluster),
  });

export function readEnded(output: string): RayEnded {
  const rows = [...output.matchAll(/^(ended|left) (\d+) (.*)$/gm)];
  const of = (kind: string): EndedProcess[] =>
    rows.filter((row) => row[1] === kind).map((row) => ({ pid: Number(row[2]), name: row[3] as string }));
  return { ended: of('ended'), left: of('left') };
}
