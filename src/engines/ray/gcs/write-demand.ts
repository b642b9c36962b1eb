import type { MessageInitShape } from '@bufbuild/protobuf';
import type { GangDemand, Request, TaskDemand } from '../../../core/demand.ts';
import type { ConstraintSchema, GangSchema, RequestSchema } from '../gen/autoscaler_pb.js';
import { RuleOperator } from '../gen/autoscaler_pb.js';

/** Words of the domain in the form that Ray takes. */
export function writeRequest(request: Request): MessageInitShape<typeof RequestSchema> {
  return {
    resources: { ...request.resources },
    selectors: request.selectors.map((selector) => ({
      rules: selector.map(({ label, operator, values }) => ({
        label,
        operator: operator === 'in' ? RuleOperator.IN : RuleOperator.NOT_IN,
        values: [...values],
      })),
    })),
    placement: request.placement.map(({ kind, label, value }) => ({ [kind]: { label, value } })),
  };
}

export function writeGang(gang: GangDemand): MessageInitShape<typeof GangSchema> {
  const requests = gang.requests.map(writeRequest);
  return { requests, details: gang.details ?? '', bundles: [{ requests }] };
}

export function writeConstraint(requests: readonly TaskDemand[]): MessageInitShape<typeof ConstraintSchema> {
  return { requests: requests.map(({ request, count }) => ({ request: writeRequest(request), count: BigInt(count) })) };
}
