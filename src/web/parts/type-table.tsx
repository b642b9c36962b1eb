import { useMemo } from 'preact/hooks';
import type { ClusterAnswer } from '../../api/types.ts';
import { nodes } from '../state/cluster.ts';
import { linkTo } from '../state/route.ts';
import { countText, moneyText, resourcesText } from '../words/amounts.ts';
import { nodeGroup } from '../words/states.ts';

/** The node types of the cluster: how many run of each, how many may, and what one costs. */
export function TypeTable({ cluster }: { cluster: ClusterAnswer }) {
  const list = nodes.value;
  const running = useMemo(() => {
    const counts = new Map<string, number>();
    for (const node of list ?? []) {
      if (nodeGroup(node.status) === 'running') counts.set(node.type, (counts.get(node.type) ?? 0) + 1);
    }
    return counts;
  }, [list]);
  const priced = cluster.nodeTypes.some((type) => type.pricePerHour !== undefined);
  return (
    <table class="table types">
      <thead>
        <tr>
          <th scope="col">Node type</th>
          <th scope="col" class="cell-right">
            Running
          </th>
          <th scope="col" class="cell-right">
            At most
          </th>
          {priced && (
            <th scope="col" class="cell-right">
              Each
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {cluster.nodeTypes.map((type) => (
          <tr key={type.name}>
            <th scope="row">
              <a href={linkTo(['nodes'], { type: type.name })} title={resourcesText(type.resources)}>
                {type.name}
              </a>
            </th>
            <td class="cell-right">{countText(running.get(type.name) ?? 0)}</td>
            <td class="cell-right">{type.head ? 1 : countText(type.maxWorkers)}</td>
            {priced && (
              <td class="cell-right">
                {type.pricePerHour === undefined ? '–' : `${moneyText(type.pricePerHour, cluster.cost?.currency)}/h`}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
