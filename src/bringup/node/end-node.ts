import type { Host } from '../../base/host.ts';
import { inOneSession } from '../../base/one-session.ts';
import type { ClusterSpec, ContainerSpec } from '../../core/spec/cluster.ts';
import { removeContainer } from '../container/container.ts';
import { endLease } from '../lease/lease.ts';
import { endRay } from '../ray/end.ts';
import { endSteps } from '../steps/step.ts';
import { type CommandPlace, stepsFolder } from './node.ts';

export interface NodeToEnd {
  readonly cluster: string;
  /** Only what was started for this instance; absent: for any of the cluster. */
  readonly instance?: string;
  /** Containers that the cluster may have made there. */
  readonly containers: readonly ContainerPlace[];
  /** Containers go too; otherwise they stay with what was set up in them, for the next start. */
  readonly remove: boolean;
  /** The lease stays: it ends the machine where the order to end it does not come through. @default false */
  readonly keepLease?: boolean;
}

type ContainerPlace = CommandPlace & { readonly kind: 'container' };

/** Ends what was started for a node on its host: lease, steps under way, Ray, containers. Returns what is still there. */
export async function endNode(host: Host, what: NodeToEnd, signal: AbortSignal): Promise<readonly string[]> {
  const { cluster, instance, containers, remove, keepLease = false } = what;
  const of = { cluster, ...(instance !== undefined && { instance }) };
  const session = inOneSession(host);
  const first = Promise.all([
    keepLease ? [] : endLease(session, cluster, { signal }),
    endSteps(session, stepsFolder(cluster), signal),
  ]);
  if (containers.length > 0) await first;
  const left: string[] = [];
  for (const place of containers) {
    if (!remove) {
      await endRay(host, { ...of, place }, { signal });
      continue;
    }
    const ended = await removeContainer(host, { ...of, place }, { signal });
    if (ended.container === 'left')
      left.push(`container ${place.name}${ended.detail === undefined ? '' : ` (${place.engine}: ${ended.detail})`}`);
  }
  const [[lease], { left: processes }] = await Promise.all([first, endRay(session, of, { signal })]);
  return [...lease, ...left, ...processes.map(({ pid, name }) => `${name} (pid ${pid})`)];
}

/** Containers that nodes of this cluster run in, each once. */
export function containersOf({ head, nodeTypes }: ClusterSpec): readonly ContainerPlace[] {
  const all = [head.container, ...nodeTypes.map((type) => type.worker.container)];
  const found = all.filter((each): each is ContainerSpec => each !== undefined);
  const byName = new Map(
    found.map(({ engine, name }) => [`${engine} ${name}`, { kind: 'container', engine, name } as const]),
  );
  return [...byName.values()];
}
