import type { InstanceStatus } from '../core/instance.ts';
import { type InstanceRecord, mayRun } from '../core/lifecycle.ts';
import type { Drain, Launch, Terminate } from '../core/plan/plan.ts';
import type { ScalingSpec } from '../core/scaling.ts';
import type { EngineNode } from '../engines/engine.ts';

/** The last look before an effect. Each answers with the reason to leave it, or undefined to go on. */
export interface Checks {
  /** How many units may be asked for now. */
  launch(action: Launch, spec: ScalingSpec, records: Iterable<InstanceRecord>): number;
  drain(action: Drain, record: InstanceRecord | undefined, node: EngineNode | undefined): string | undefined;
  terminate(action: Terminate, record: InstanceRecord | undefined, node: EngineNode | undefined): string | undefined;
}

export const checks: Checks = {
  launch(action, spec, records) {
    const type = spec.nodeTypes.find((each) => each.name === action.type);
    if (type === undefined) return 0;
    let ofType = 0;
    let workers = 0;
    for (const record of records) {
      if (record.kind === 'head' || !mayRun(record.status)) continue;
      workers++;
      if (record.type === action.type) ofType++;
    }
    const room = Math.min(type.maxWorkers - ofType, (spec.maxWorkers ?? Number.POSITIVE_INFINITY) - workers);
    return Math.max(0, Math.min(action.count, Math.floor(room / Math.max(1, type.hostsPerSlice))));
  },

  drain(action, record, node) {
    const doubt = untouchable(record);
    if (doubt !== undefined) return doubt;
    if (record?.status !== 'running' && record?.status !== 'drain-requested') return `it is ${record?.status}`;
    if (node !== undefined && node.id !== action.node) return 'another node is running on it';
    if (node?.state === 'alive' && node.idleFor === 0) return 'its node is busy';
    return undefined;
  },

  terminate(action, record, node) {
    const doubt = untouchable(record);
    if (doubt !== undefined) return doubt;
    // The hosts of a slice only work together: what runs on the rest of one is lost.
    if (action.because.kind === 'slice-broken' && record?.providerId !== undefined) return undefined;
    if (record !== undefined && !endable.has(record.status)) return `it is ${record.status}`;
    if (record?.providerId === undefined) return 'the provider has not named its machine yet';
    if (node !== undefined && node.state !== 'dead') return `its node is ${node.state}`;
    return undefined;
  },
};

/** A node that runs, or may run any moment, is drained instead. */
const endable: ReadonlySet<InstanceStatus> = new Set<InstanceStatus>([
  'allocated',
  'setting-up',
  'stopped',
  'machine-stopped',
  'launch-timeout',
  'setup-failed',
  'terminate-failed',
  'terminating',
]);

function untouchable(record: InstanceRecord | undefined): string | undefined {
  if (record === undefined) return 'it no longer exists';
  if (record.kind === 'head') return 'it is the head';
  if (record.isolated !== undefined) return 'it is isolated';
  return undefined;
}
