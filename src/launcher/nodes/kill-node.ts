import { randomInt } from 'node:crypto';
import type { Host } from '../../base/host.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import { endRay } from '../../bringup/ray/end.ts';

export const oneOf = <Value>(values: readonly [Value, ...Value[]]): Value => values[randomInt(values.length)]!;

/** Ends Ray on a node as `ray stop` does: the cluster is told, and brings the node back. */
export async function stopNode(host: Host, cluster: string, place: CommandPlace, signal: AbortSignal): Promise<void> {
  await endRay(host, { cluster, place }, { signal });
}
