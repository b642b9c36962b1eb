import type { Instant } from '../../../base/time/clock.ts';
import type { GangDemand, PlacementRule, Request, TaskDemand } from '../../../core/demand.ts';
import { isShare, type LabelSelector } from '../../../core/resources.ts';
import type { EngineNode, EngineState } from '../../engine.ts';
import type {
  ClusterState,
  CountedRequest,
  Gang,
  Placement,
  Node as RayNode,
  Request as RayRequest,
  Selector,
} from '../gen/autoscaler_pb.js';
import { NodeStatus, RuleOperator } from '../gen/autoscaler_pb.js';

/** Resource that only the head has. */
const headResource = 'node:__internal_head__';

/** Ray's answer in the words of the domain. */
export function readState(state: ClusterState, at: Instant): EngineState {
  return {
    at,
    nodes: state.nodes.map(readNode),
    demand: {
      tasks: state.pending.flatMap(readCounted).filter(({ request }) => !waitsForGang(request)),
      gangs: state.gangs.map(readGang),
      standing: state.constraints
        .map((constraint) => ({ requests: constraint.requests.flatMap(readCounted) }))
        .filter(({ requests }) => requests.length > 0),
    },
  };
}

/**
 * A task that is to run in a placement group asks for resources that only the group has once it is placed. The group
 * itself is what waits for room; no node type will ever hold the task, and it is not impossible for that.
 */
const waitsForGang = ({ resources }: Request): boolean => Object.keys(resources).some(isShare);

function readNode(node: RayNode): EngineNode {
  return {
    id: Buffer.from(node.id).toString('hex'),
    ...(node.instanceId === '' ? {} : { providerId: node.instanceId }),
    ...(node.type === '' ? {} : { type: node.type }),
    head: Object.hasOwn(node.total, headResource),
    state: stateOf(node.status),
    total: node.total,
    available: node.available,
    labels: { ...node.labels, ...node.dynamicLabels },
    idleFor: Number(node.idleMs),
  };
}

function stateOf(status: NodeStatus): EngineNode['state'] {
  switch (status) {
    case NodeStatus.DEAD:
      return 'dead';
    case NodeStatus.DRAINING:
      return 'draining';
    default:
      return 'alive';
  }
}

function readCounted({ request, count }: CountedRequest): TaskDemand[] {
  return request && count > 0n ? [{ request: readRequest(request), count: Number(count) }] : [];
}

function readRequest(request: RayRequest): Request {
  return {
    // Ray's own order changes from one answer to the next.
    resources: Object.fromEntries(Object.entries(request.resources).sort(([a], [b]) => (a < b ? -1 : 1))),
    selectors: request.selectors.map(readSelector).filter((selector) => selector.length > 0),
    placement: request.placement.flatMap(readPlacement),
  };
}

function readSelector(selector: Selector): LabelSelector {
  return selector.rules.map(({ label, operator, values }) => ({
    label,
    operator: operator === RuleOperator.NOT_IN ? 'not-in' : 'in',
    values,
  }));
}

function readPlacement({ apart, together }: Placement): PlacementRule[] {
  return [
    ...(apart ? [{ kind: 'apart' as const, label: apart.label, value: apart.value }] : []),
    ...(together ? [{ kind: 'together' as const, label: together.label, value: together.value }] : []),
  ];
}

function readGang(gang: Gang): GangDemand {
  const requests = gang.bundles[0]?.requests ?? gang.requests;
  const id = gang.details.split(':')[0] ?? '';
  return { id, requests: requests.map(readRequest), details: gang.details };
}
