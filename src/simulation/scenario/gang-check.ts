import type { GangDemand } from '../../core/demand.ts';
import { isPending } from '../../core/lifecycle.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { amountOf, type Resources, sumResources } from '../../core/resources.ts';
import type { ScalingSpec } from '../../core/scaling.ts';
import type { View } from '../../core/view.ts';

/**
 * A gang for which something is launched although what runs, what is pending and what is launched cannot hold all of
 * it together; undefined when there is none. Knows nothing of how the planner packs.
 */
export function brokenGang(view: View, plan: Plan, spec: ScalingSpec): string | undefined {
  const served = new Set<string>();
  for (const action of plan.actions) {
    if (action.kind !== 'launch') continue;
    for (const reason of action.because) if (reason.serves.kind === 'gang') served.add(reason.serves.gang);
  }
  if (served.size === 0) return undefined;
  const rooms = freeRooms(view, plan, spec);
  return view.demand.gangs.find((gang) => served.has(gang.id) && !holds(rooms, gang))?.id;
}

function freeRooms(view: View, plan: Plan, spec: ScalingSpec): Resources[] {
  const of = (name: string): Resources => spec.nodeTypes.find((type) => type.name === name)?.resources ?? {};
  const rooms: Resources[] = [];
  for (const instance of view.instances) {
    if (instance.node !== undefined) rooms.push(instance.node.available);
    else if (isPending(instance.status)) rooms.push(of(instance.type));
  }
  for (const action of plan.actions) {
    if (action.kind !== 'launch') continue;
    for (let index = 0; index < action.count; index++) rooms.push(of(action.type));
  }
  return rooms;
}

/** Tries to place the gang, largest bundle first, each in the tightest room that takes it. */
function holds(rooms: readonly Resources[], gang: GangDemand): boolean {
  const left = rooms.map((room) => ({ ...room }));
  const used = new Set<number>();
  const apart = gang.requests.some((request) => request.placement.some((rule) => rule.kind === 'apart'));
  const together = gang.requests.some((request) => request.placement.some((rule) => rule.kind === 'together'));
  if (together) {
    const sum = sumResources(gang.requests.map(({ resources }) => resources));
    return left.some((room) => fits(room, sum));
  }
  const bySize = gang.requests.toSorted((a, b) => size(b.resources) - size(a.resources));
  return bySize.every(({ resources }) => {
    let best = -1;
    left.forEach((room, index) => {
      if ((apart && used.has(index)) || !fits(room, resources)) return;
      if (best < 0 || size(room) < size(left[best] as Resources)) best = index;
    });
    const room = left[best];
    if (room === undefined) return false;
    used.add(best);
    for (const name in resources) room[name] = amountOf(room, name) - (resources[name] as number);
    return true;
  });
}

const size = (resources: Resources): number => (resources['CPU'] ?? 0) + 100 * (resources['GPU'] ?? 0);

function fits(room: Resources, resources: Resources): boolean {
  for (const name in resources) if ((resources[name] as number) > amountOf(room, name) + 1e-9) return false;
  return true;
}
