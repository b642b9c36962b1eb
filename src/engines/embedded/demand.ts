import { createHash } from 'node:crypto';
import type { GangDemand, PlacementRule, Request, TaskDemand } from '../../core/demand.ts';
import { readLabelRule } from '../../core/placement/labels.ts';
import type { LabelSelector, Labels, Resources } from '../../core/resources.ts';
import type { AttemptOrder } from '../runner.ts';

/** Attempts that wait for room, as demand: equal shapes counted together, in the order in which they came. */
export function taskDemand(waiting: readonly Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>[]): TaskDemand[] {
  const shapes = new Map<string, { request: Request; count: number }>();
  for (const order of waiting) {
    if (order.gang) continue;
    const request = requestOf(order.resources, order.labels, []);
    const key = JSON.stringify(request);
    const shape = shapes.get(key);
    if (shape) shape.count++;
    else shapes.set(key, { request, count: 1 });
  }
  return [...shapes.values()];
}

export function gangDemand(waiting: readonly AttemptOrder[]): GangDemand[] {
  return waiting.flatMap((order) => {
    if (!order.gang) return [];
    const id = createHash('sha256').update(order.id).digest('hex').slice(0, 36);
    const placement = rulesOf(order.gang.strategy, id);
    const requests = order.gang.bundles.map((bundle) => requestOf(bundle, order.labels, placement));
    return [{ id, requests, details: `${id}:${order.gang.strategy}|PENDING` }];
  });
}

/** As Ray states them: the strict strategies become rules on a label of the gang's own. */
function rulesOf(strategy: string, id: string): PlacementRule[] {
  if (strategy === 'STRICT_SPREAD') return [{ kind: 'apart', label: `_PG_${id}`, value: '' }];
  if (strategy === 'STRICT_PACK') return [{ kind: 'together', label: `_PG_${id}`, value: '' }];
  return [];
}

function requestOf(resources: Resources, labels: Labels, placement: readonly PlacementRule[]): Request {
  const selector: LabelSelector = Object.entries(labels).map(([label, value]) => readLabelRule(label, value));
  return { resources, selectors: selector.length > 0 ? [selector] : [], placement };
}
