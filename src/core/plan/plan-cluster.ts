import type { Instant } from '../../base/time/clock.ts';
import { mustEnd } from '../lifecycle.ts';
import type { Resources } from '../resources.ts';
import type { ScalingSpec } from '../scaling.ts';
import type { View } from '../view.ts';
import { launchesOf } from './launches.ts';
import { endAboveClusterLimit, endAboveTypeLimits, endOutdated, launchFloors, mayEnd } from './limits.ts';
import { placeDemand } from './packing/place.ts';
import { explainUnplaced } from './packing/unplaced.ts';
import { openPass, type Pass } from './pass.ts';
import type { Action, Plan } from './plan.ts';
import { manta, type Policy } from './policy.ts';
import { endIdle } from './retire.ts';
import { endBrokenSlices } from './slices.ts';
import { limitSpeed } from './speed.ts';
import { endStopped, isKept } from './stopped.ts';

/**
 * What to launch and what to end, from everything known at one instant. Pure: the same view, spec, time and policy
 * give the same plan. Docs: docs/planner.md.
 */
export function plan(view: View, spec: ScalingSpec, now: Instant, policy: Policy = manta): Plan {
  const pass = openPass(view, spec, now, policy);
  endOutdated(pass);
  if (policy.like === 'ray') {
    launchFloors(pass);
    endAboveTypeLimits(pass);
    endAboveClusterLimit(pass);
  } else {
    endBrokenSlices(pass);
    endAboveTypeLimits(pass);
    endAboveClusterLimit(pass);
    launchFloors(pass);
  }
  const unplaced = placeDemand(pass);
  const held = limitSpeed(pass);
  const idle = endIdle(pass);
  const { infeasible, waiting, until } = explainUnplaced(pass, unplaced, held);
  const next = Math.min(
    idle.next ?? Number.POSITIVE_INFINITY,
    until ?? Number.POSITIVE_INFINITY,
    held.until ?? Number.POSITIVE_INFINITY,
  );
  return {
    at: now,
    actions: [...endsOf(pass), ...launchesOf(pass)],
    infeasible,
    waiting,
    facts: idle.facts,
    ...(next === Number.POSITIVE_INFINITY ? {} : { lookAgainAt: next }),
    resources: clusterResources(pass),
  };
}

function endsOf(pass: Pass): Action[] {
  const actions: Action[] = [];
  for (const { end: because, instance, state } of pass.bins) {
    if (because === undefined) continue;
    if (instance === undefined) actions.push({ kind: 'terminate', instance: '', because });
    else if (state.running && instance.node !== undefined && because.kind !== 'slice-broken')
      actions.push({
        kind: 'drain',
        instance: instance.id,
        node: instance.node.id,
        ...(because.kind === 'idle' && isKept(pass, instance) && { stops: true }),
        because,
      });
    else actions.push({ kind: 'terminate', instance: instance.id, because });
  }
  if (pass.policy.like === 'ray' || !mayEnd(pass)) return actions;
  for (const { id, status, kind } of pass.outside)
    if (kind === 'worker' && mustEnd(status))
      actions.push({ kind: 'terminate', instance: id, because: { kind: 'failed', status } });
  return [...actions, ...endStopped(pass)];
}

function clusterResources(pass: Pass): Resources {
  const sums = new Map<string, number>();
  for (const { fate, state, instance } of pass.bins) {
    if (fate === 'end') continue;
    const total = state.running && instance?.node !== undefined ? instance.node.total : state.type.resources;
    for (const name in total) sums.set(name, (sums.get(name) ?? 0) + (total[name] ?? 0));
  }
  return Object.fromEntries(sums);
}
