import { type ListedObject, listedObject } from '../../../core/kube/listing.ts';
import { listRayObjects } from '../../../kube/target.ts';
import type { Io } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { tableText } from '../../shared/tables.ts';
import { ageWords } from '../../shared/times.ts';
import { withKube } from '../kube/connect.ts';
import type { listOptions } from './declaration.ts';

/** What KubeRay manages in the namespace, or in all of them. */
export function listOnKube(options: OptionValues<typeof listOptions>, io: Io): Promise<number> {
  return withKube(options, io, async (client) => {
    const namespace = options.allNamespaces ? undefined : client.access.namespace;
    const found = await listRayObjects(client, namespace, io.signal);
    const objects = found.map(({ kind, object }) => listedObject(kind, object));
    // A cluster that a service or job has made is told with it.
    const owned = new Set(objects.flatMap((each) => each.clusters.map((name) => `${each.namespace}/${name}`)));
    const shown = objects.filter((each) => !owned.has(`${each.namespace}/${each.name}`) || each.kind !== 'RayCluster');
    if (io.json) for (const each of shown) io.out(`${JSON.stringify(each)}\n`);
    else if (shown.length === 0) io.out(`no RayClusters, RayServices or RayJobs ${whereWords(namespace)}\n`);
    else io.out(table(shown, namespace === undefined, io));
    return 0;
  });
}

const whereWords = (namespace: string | undefined): string =>
  namespace === undefined ? 'in any namespace' : `in the namespace '${namespace}'`;

/** The first word of a row is what other commands take for CLUSTER. */
function table(objects: readonly ListedObject[], isOfAll: boolean, io: Io): string {
  const now = Date.now();
  const rows = objects.map(({ kind, namespace, name, state, workers, clusters, created }) => [
    `kube:${isOfAll ? `${namespace}/` : ''}${name}`,
    kind,
    state,
    workers,
    created === '' ? '' : ageWords(now - Date.parse(created)),
    clusters.join(', '),
  ]);
  return tableText(['CLUSTER', 'KIND', 'STATE', 'WORKERS', 'AGE', 'RAYCLUSTERS'], rows, io);
}
