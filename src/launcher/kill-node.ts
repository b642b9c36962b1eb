import { randomInt } from 'node:crypto';
import type { Host } from '../base/host.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import type { Place } from '../bringup/node.ts';
import { endRay } from '../bringup/ray-end.ts';
import { markPattern, processText } from '../bringup/ray-processes.ts';
import { bashAt } from '../bringup/shell-text.ts';

export const oneOf = <Value>(values: readonly [Value, ...Value[]]): Value => values[randomInt(values.length)]!;

/** Ends Ray on a node as `ray stop` does: the cluster is told, and brings the node back. */
export async function stopNode(host: Host, cluster: string, place: Place, signal: AbortSignal): Promise<void> {
  await endRay(host, { cluster, place }, { signal });
}

/** Ends a node as a power cut does, as far as one may do that to somebody's own machine: nobody is told. */
export async function cutNode(host: Host, cluster: string, place: Place, signal: AbortSignal): Promise<void> {
  if (place.kind === 'container') {
    await host.sh(`${place.engine} rm -f ${shellQuoted(place.name)} >/dev/null 2>&1; exit 0`, { signal });
    return;
  }
  const text = `${processText}
manta_look ${shellQuoted(markPattern(cluster))}
manta_take cluster
for p in "\${!manta_found[@]}"; do kill -KILL "$p" 2>/dev/null; done
exit 0`;
  await host.sh(bashAt(place, text), { signal });
}
