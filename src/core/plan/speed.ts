import type { Duration, Instant } from '../../base/time/clock.ts';
import { isPending } from '../lifecycle.ts';
import type { Bin } from './packing/bin.ts';
import type { Pass } from './pass.ts';
import type { Shape } from './shape.ts';
import type { TypeInfo } from './state.ts';

/** Launches held back by the upscaling speed, and what they would have held. */
export interface HeldBack {
  readonly demand: readonly {
    readonly shape: Shape;
    readonly count: number;
    readonly type: TypeInfo;
    readonly pending: number;
    readonly allowed: number;
  }[];
  readonly until: Instant | undefined;
}

const floor = 5;
/** Ray v2 looks every five seconds and launches `max(1, speed x running)` of a type each time. */
const rayLoop: Duration = 5_000;

/**
 * Takes back launches for tasks beyond the upscaling speed: pending instances of a type are at most
 * max(5, speed x running), and never fewer than Ray v2's own rate would have launched by now. Floors, gangs and
 * standing requests are launched whatever the speed.
 */
export function limitSpeed(pass: Pass): HeldBack {
  const demand: HeldBack['demand'][number][] = [];
  let until: Instant | undefined;
  if (pass.policy.like === 'ray' || pass.spec.upscalingSpeed === Number.POSITIVE_INFINITY) return { demand, until };
  for (const type of pass.types) {
    const launches = pass.bins.filter((bin) => bin.fate === 'launch' && bin.state.type === type);
    const forTasks = launches.filter((bin) => bin.launch?.kind === 'tasks');
    if (forTasks.length === 0) continue;
    const { allowed, pending, recent } = allowance(pass, type);
    const units = Math.max(0, Math.floor((allowed - (launches.length - forTasks.length)) / type.hosts));
    const held = forTasks.slice(units * type.hosts);
    if (held.length === 0) continue;
    const gone = new Set<Bin>(held);
    pass.bins = pass.bins.filter((bin) => !gone.has(bin));
    for (const [shape, count] of servedBy(held))
      demand.push({ shape, count, type, pending, allowed: allowed + pending });
    const next = recent === undefined ? pass.now + rayLoop : Math.max(pass.now + 1, recent + rayLoop);
    until = until === undefined ? next : Math.min(until, next);
  }
  return { demand, until };
}

/** How many more of a type may be launched for tasks now. */
function allowance(pass: Pass, type: TypeInfo): { allowed: number; pending: number; recent: Instant | undefined } {
  let running = 0;
  let pending = 0;
  let lately = 0;
  let recent: Instant | undefined;
  for (const { kind, status, requestedAt, byHand, type: name } of pass.view.instances) {
    if (name !== type.name || kind === 'head' || byHand) continue;
    if (status === 'running') running++;
    if (isPending(status)) pending++;
    if (pass.now - requestedAt < rayLoop && status !== 'launch-failed') {
      lately++;
      recent = recent === undefined ? requestedAt : Math.min(recent, requestedAt);
    }
  }
  const speed = pass.spec.upscalingSpeed;
  const asMeant = Math.max(floor, Math.floor(speed * Math.max(running, 1))) - pending;
  const asRay = Math.max(1, Math.ceil(speed * Math.max(running, 1))) - lately;
  return { allowed: Math.max(0, asMeant, asRay), pending, recent };
}

function servedBy(bins: readonly Bin[]): Map<Shape, number> {
  const served = new Map<Shape, number>();
  for (const { launch } of bins)
    for (const { shape, count } of launch?.served ?? []) served.set(shape, (served.get(shape) ?? 0) + count);
  return served;
}
