import type { Demand, Request } from '../../core/demand.ts';
import type { ScalingSpec } from '../../core/scaling.ts';
import type { EngineNode } from '../../engines/engine.ts';

/** An instance of Ray's instance manager. */
export interface RayInstance {
  readonly id: string;
  readonly type: string;
  readonly head: boolean;
  status: RayInstanceStatus;
  /** When it entered `status`. */
  since: number;
  readonly queuedAt: number;
  requests: number;
  requestId: string | undefined;
  machine: string | undefined;
}

export type RayInstanceStatus =
  | 'QUEUED'
  | 'REQUESTED'
  | 'ALLOCATED'
  | 'RAY_INSTALLING'
  | 'RAY_RUNNING'
  | 'RAY_STOP_REQUESTED'
  | 'RAY_STOPPING'
  | 'RAY_STOPPED'
  | 'TERMINATING'
  | 'TERMINATED'
  | 'ALLOCATION_FAILED'
  | 'ALLOCATION_TIMEOUT'
  | 'RAY_INSTALL_FAILED'
  | 'TERMINATION_FAILED';

/** A SchedulingRequest of Ray's planner, in the JSON form of its messages. */
export function rayRequest(
  spec: ScalingSpec,
  instances: readonly RayInstance[],
  nodes: ReadonlyMap<string, EngineNode>,
  demand: Demand,
  availabilities: Readonly<Record<string, number>>,
): object {
  return {
    node_type_configs: Object.fromEntries(
      spec.nodeTypes.map((type) => [
        type.name,
        {
          name: type.name,
          min_worker_nodes: type.minWorkers,
          max_worker_nodes: type.maxWorkers,
          resources: type.resources,
          labels: type.labels,
          launch_config_hash: type.launchHash,
          idle_timeout_s: type.idleTimeout === undefined ? null : type.idleTimeout / 1_000,
          priority: type.priority,
        },
      ]),
    ),
    max_num_nodes: spec.maxWorkers === undefined ? null : spec.maxWorkers + 1,
    idle_timeout_s: spec.idleTimeout === undefined ? null : spec.idleTimeout / 1_000,
    pending_idle_timeout_s: null,
    disable_launch_config_check: true,
    resource_requests: demand.tasks.map(({ request, count }) => ({ request: toRay(request), count: String(count) })),
    gang_resource_requests: demand.gangs.map((gang) => ({
      requests: gang.requests.map(toRay),
      bundle_selectors: [{ resource_requests: gang.requests.map(toRay) }],
      details: gang.details ?? '',
    })),
    cluster_resource_constraints: demand.standing.map((standing) => ({
      resource_requests: standing.requests.map(({ request, count }) => ({
        request: toRay(request),
        count: String(count),
      })),
    })),
    current_instances: instances.map((instance) => instanceToRay(instance, nodes)),
    cloud_resource_availabilities: availabilities,
    recoverable_resource_availabilities: {},
  };
}

function instanceToRay(instance: RayInstance, nodes: ReadonlyMap<string, EngineNode>): object {
  const node = instance.machine === undefined ? undefined : nodes.get(instance.machine);
  const shown = node !== undefined && node.state !== 'dead';
  return {
    cloud_instance_id: instance.machine ?? null,
    im_instance: {
      instance_id: instance.id,
      instance_type: instance.type,
      status: instance.status,
      node_kind: instance.head ? 'HEAD' : 'WORKER',
      ...(shown ? { node_id: node.id } : {}),
    },
    ray_node: shown
      ? {
          node_id: Buffer.from(node.id).toString('base64'),
          ray_node_type_name: instance.type,
          available_resources: node.available,
          total_resources: node.total,
          labels: node.labels,
          status: node.state === 'draining' ? 'DRAINING' : node.idleFor > 0 ? 'IDLE' : 'RUNNING',
          idle_duration_ms: String(Math.round(node.idleFor)),
        }
      : null,
  };
}

function toRay(request: Request): object {
  return {
    resources_bundle: request.resources,
    placement_constraints: request.placement.map((rule) => ({
      [rule.kind === 'apart' ? 'anti_affinity' : 'affinity']: { label_name: rule.label, label_value: rule.value },
    })),
    label_selectors: request.selectors.map((selector) => ({
      label_constraints: selector.map((rule) => ({
        label_key: rule.label,
        operator: rule.operator === 'in' ? 'LABEL_OPERATOR_IN' : 'LABEL_OPERATOR_NOT_IN',
        label_values: rule.values,
      })),
    })),
  };
}
