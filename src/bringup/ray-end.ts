import type { Host } from '../base/host.ts';
import type { Place } from './node.ts';
import { markPattern, processText } from './ray-processes.ts';
import { bashAt, quote } from './shell-text.ts';

export interface RayToEnd {
  readonly cluster: string;
  /** Only what was started for this instance; absent: for any of the cluster. */
  readonly instance?: string;
  /** Ended and removed with all that runs in it. */
  readonly container?: Place & { readonly kind: 'container' };
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
 * Ends everything that was started for a node, in one round trip: Ray, what ran on it, and its container. Raylets sign
 * off first, so that the rest of the cluster knows at once. Ending what has ended is no error. Other clusters' Rays on
 * the host go on.
 */
export async function endRay(host: Host, what: RayToEnd, options: { readonly signal: AbortSignal }): Promise<RayEnded> {
  const text = `${processText}manta_end cluster ${quote(markPattern(what.cluster, what.instance))}\n`;
  const program = bashAt({ kind: 'host' }, text);
  const { stdout } = await host.sh(program, options);
  const rows = [...stdout.matchAll(/^(ended|left) (\d+) (.*)$/gm)];
  const of = (kind: string): EndedProcess[] =>
    rows.filter((row) => row[1] === kind).map((row) => ({ pid: Number(row[2]), name: row[3] as string }));
  return { ended: of('ended'), left: of('left') };
}
