import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Instant } from '../../../base/time/clock.ts';
import type { InfeasibleDemand } from '../../../core/plan/plan.ts';
import { amountOf, type Resources, sumResources } from '../../../core/resources.ts';
import type { ScalingSpec } from '../../../core/scaling.ts';
import type { ClusterStatus } from '../../../core/status/status.ts';
import type { ConfigSchema, ReportSchema } from '../gen/autoscaler_pb.js';
import { writeConstraint, writeGang, writeRequest } from './write-demand.ts';

/** What Ray's own pages and commands show of Manta's work; the nodes and the demand Ray knows itself. */
export interface AutoscalerReport extends Pick<ClusterStatus, 'launching' | 'pending' | 'failedLaunches'> {
  readonly infeasible: readonly InfeasibleDemand[];
}

export const nothingToReport: AutoscalerReport = { launching: [], pending: [], failedLaunches: [], infeasible: [] };

/** Beyond this nobody counts nodes of one type in a status. */
const mostAsked = 1_000;

const seconds = (at: Instant): bigint => BigInt(Math.floor(at / 1_000));

export function writeReport(
  report: AutoscalerReport,
  version: number,
  now: Instant,
): MessageInitShape<typeof ReportSchema> {
  const { launching, pending, failedLaunches, infeasible } = report;
  return {
    version: BigInt(version),
    // Ray's own tools count requests, whatever number stands in them: each node is a request of its own.
    asked: launching.flatMap(({ type, count }) =>
      Array.from({ length: Math.min(count, mostAsked) }, () => ({
        instanceType: type,
        type,
        count: 1,
        at: seconds(now),
      })),
    ),
    pending: pending.map(({ instance, type, details }) => ({ instanceType: type, type, instance, details })),
    failed: failedLaunches.map(({ type, at, reason }) => ({
      instanceType: type,
      type,
      count: 1,
      reason,
      beganAt: seconds(at),
      failedAt: seconds(at),
    })),
    infeasible: infeasible.flatMap((each) => (each.kind === 'tasks' ? [writeRequest(each.request)] : [])),
    infeasibleGangs: infeasible.flatMap((each) => (each.kind === 'gang' ? [writeGang(each.gang)] : [])),
    infeasibleConstraints: infeasible.flatMap((each) =>
      each.kind === 'standing' ? [writeConstraint(each.standing.requests)] : [],
    ),
  };
}

/** The limits of the cluster, as libraries on Ray read them to know how far it may grow. */
export function writeConfig(spec: ScalingSpec): MessageInitShape<typeof ConfigSchema> {
  const limitOf = (name: string, max: number): number =>
    name === spec.headType ? 1 : Math.min(max, spec.maxWorkers ?? max);
  const total = (count: (type: ScalingSpec['nodeTypes'][number]) => number): Resources =>
    sumResources(spec.nodeTypes.map((type) => times(type.resources, count(type))));
  return {
    min: whole(total((type) => (type.name === spec.headType ? 1 : type.minWorkers))),
    max: whole(total((type) => limitOf(type.name, type.maxWorkers))),
    groups: spec.nodeTypes.map((type) => ({
      name: type.name,
      resources: whole(type.resources),
      min: type.name === spec.headType ? 1 : type.minWorkers,
      max: limitOf(type.name, type.maxWorkers),
    })),
  };
}

const times = (resources: Resources, count: number): Resources =>
  Object.fromEntries(Object.keys(resources).map((name) => [name, amountOf(resources, name) * count]));

const whole = (resources: Resources): Record<string, bigint> =>
  Object.fromEntries(Object.entries(resources).map(([name, amount]) => [name, BigInt(Math.floor(amount))]));
