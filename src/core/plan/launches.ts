import type { Bin } from './packing/bin.ts';
import type { Pass } from './pass.ts';
import { whyNot } from './passed.ts';
import type { Launch, LaunchReason, Passed } from './plan.ts';
import type { Shape } from './shape.ts';
import type { TypeInfo } from './state.ts';

/** Launches by type and offer, each with what it serves and why by this type. */
export function launchesOf(pass: Pass): Launch[] {
  const byType = new Map<TypeInfo, Bin[]>();
  const workers = new Map<TypeInfo, number>();
  for (const bin of pass.bins) {
    if (!bin.state.head) workers.set(bin.state.type, (workers.get(bin.state.type) ?? 0) + 1);
    if (bin.fate !== 'launch') continue;
    const group = byType.get(bin.state.type);
    if (group === undefined) byType.set(bin.state.type, [bin]);
    else group.push(bin);
  }
  return [...byType].map(([type, bins]) => {
    const offer = pass.offers.get(type)?.offer ?? type.spec?.offers[0];
    return {
      kind: 'launch',
      type: type.name,
      count: Math.ceil(bins.length / type.hosts),
      ...(offer?.zone === undefined ? {} : { zone: offer.zone }),
      market: offer?.market ?? 'on-demand',
      because: reasons({ pass, workers }, type, bins),
    };
  });
}

/** What reasons are made from. */
interface Grounds {
  readonly pass: Pass;
  /** Workers of each type once the plan is carried out. */
  readonly workers: ReadonlyMap<TypeInfo, number>;
}

function reasons(grounds: Grounds, type: TypeInfo, bins: readonly Bin[]): LaunchReason[] {
  const tasks = new Map<Shape, number>();
  const gangs = new Map<string, { requests: number; shape: Shape | undefined }>();
  let floor = 0;
  let standing = 0;
  let standingShape: Shape | undefined;
  for (const { launch } of bins) {
    if (launch === undefined) continue;
    const first = launch.served[0]?.shape;
    const count = launch.served.reduce((sum, one) => sum + one.count, 0);
    if (launch.kind === 'min-workers') floor++;
    else if (launch.kind === 'standing') {
      standing += count;
      standingShape ??= first;
    } else if (launch.kind === 'gang') {
      const known = gangs.get(launch.gang ?? '');
      gangs.set(launch.gang ?? '', { requests: (known?.requests ?? 0) + count, shape: known?.shape ?? first });
    } else for (const one of launch.served) tasks.set(one.shape, (tasks.get(one.shape) ?? 0) + one.count);
  }
  const all: LaunchReason[] = [];
  if (floor > 0) all.push({ serves: { kind: 'min-workers', count: floor }, instead: [] });
  if (standing > 0)
    all.push({ serves: { kind: 'standing', count: standing }, instead: instead(grounds, type, standingShape) });
  for (const [gang, { requests, shape }] of gangs)
    all.push({ serves: { kind: 'gang', gang, requests }, instead: instead(grounds, type, shape) });
  for (const [shape, count] of tasks)
    all.push({ serves: { kind: 'tasks', request: shape.request, count }, instead: instead(grounds, type, shape) });
  return all;
}

/** The other types and offers, each with what spoke against it. */
function instead(grounds: Grounds, chosen: TypeInfo, shape: Shape | undefined): Passed[] {
  if (shape === undefined) return [];
  const passed: Passed[] = [];
  const { pass } = grounds;
  for (const type of pass.types) {
    for (const { offer, refusal } of pass.offers.get(type)?.refused ?? [])
      passed.push({
        type: type.name,
        ...(offer.zone === undefined ? {} : { zone: offer.zone }),
        market: offer.market,
        why: { kind: 'refused', refusal },
      });
    if (type === chosen) continue;
    const why = whyNot(type, shape, pass) ?? whyOther(grounds, type, chosen, shape);
    if (why !== undefined) passed.push({ type: type.name, why });
  }
  return passed;
}

function whyOther(
  { pass, workers }: Grounds,
  type: TypeInfo,
  chosen: TypeInfo,
  shape: Shape,
): Passed['why'] | undefined {
  const max = type.spec?.maxWorkers ?? 0;
  const existing = workers.get(type) ?? 0;
  if (existing + type.hosts > max) return { kind: 'type-limit', max };
  if (pass.offers.get(type)?.offer === undefined) return undefined;
  const hasGpus = ({ resources }: TypeInfo): boolean => (resources['GPU'] ?? 0) > 0;
  if (!shape.gpu && hasGpus(type) && !hasGpus(chosen)) return { kind: 'keeps-gpus' };
  if (type.priority < chosen.priority)
    return { kind: 'lower-priority', priority: type.priority, chosen: chosen.priority };
  if (type.price !== undefined && chosen.price !== undefined && type.price * type.hosts > chosen.price * chosen.hosts)
    return { kind: 'dearer', price: type.price * type.hosts, chosen: chosen.price * chosen.hosts };
  const broader = pass.compared.get(type)?.broader;
  return broader === undefined ? { kind: 'worse-fit' } : { kind: 'narrow', broader: broader.name };
}
