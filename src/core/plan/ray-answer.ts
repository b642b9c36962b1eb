import type { Action, EndReason, InfeasibleDemand, Plan, Waiting } from './plan.ts';
import type { Fields } from './ray-fields.ts';
import type { Originals, RayRequest } from './ray-form.ts';

/** A plan in the form of Ray's SchedulingReply. Ids and times are counted from the plan, so equal plans print equally. */
export function toRayAnswer(plan: Plan, request: RayRequest): Fields {
  const { originals } = request;
  const unplaced = [...plan.infeasible.map(asDemand), ...plan.waiting.map(({ demand }) => demand)];
  return {
    cluster_resources: plan.resources,
    infeasible_cluster_resource_constraints: unplaced.flatMap((one) =>
      one.kind === 'standing' ? [mark('ClusterResourceConstraint', originals.standing.get(one.standing))] : [],
    ),
    infeasible_gang_resource_requests: unplaced.flatMap((one) =>
      one.kind === 'gang' ? [mark('GangResourceRequest', originals.gangs.get(one.gang))] : [],
    ),
    infeasible_resource_requests: unplaced.flatMap((one) =>
      one.kind === 'tasks'
        ? new Array<Fields>(one.count).fill(mark('ResourceRequest', originals.requests.get(one.request)))
        : [],
    ),
    to_ippr: [],
    to_launch: plan.actions
      .filter((action) => action.kind === 'launch')
      .map((action, at) => ({
        $pb: 'ray.rpc.autoscaler.im.LaunchRequest',
        count: action.count,
        id: `launch-${at + 1}`,
        instance_type: action.type,
        request_ts_ms: String(plan.at),
      })),
    to_terminate: plan.actions.flatMap((action, at) => {
      const termination = toTermination(action, at, originals);
      return termination === undefined ? [] : [termination];
    }),
  };
}

const asDemand = (one: InfeasibleDemand): Waiting['demand'] =>
  one.kind === 'gang' ? { kind: 'gang', gang: one.gang.id } : one;

const mark = (name: string, original: Fields | undefined): Fields => ({
  $pb: `ray.rpc.autoscaler.${name}`,
  ...(withoutDefaults(original ?? {}) as Fields),
});

/** Protobuf's JSON form leaves out what has its default value, and quotes 64-bit numbers. */
function withoutDefaults(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutDefaults(one));
  if (typeof value !== 'object' || value === null) return key === 'count' ? String(value) : value;
  if (key === 'resources_bundle') return value;
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value))
    if (!isDefault(name, field)) kept[name] = withoutDefaults(field, name);
  return kept;
}

function isDefault(name: string, field: unknown): boolean {
  if (field === null || field === '' || field === 0 || field === '0' || field === false) return true;
  if (Array.isArray(field)) return field.length === 0;
  if (name === 'operator') return field === 'LABEL_OPERATOR_UNSPECIFIED';
  return name === 'resources_bundle' && Object.keys(field as object).length === 0;
}

const causes: Partial<Record<EndReason['kind'], string>> = {
  idle: 'IDLE',
  'unneeded-pending': 'IDLE',
  outdated: 'OUTDATED',
  'type-removed': 'OUTDATED',
  'type-limit': 'MAX_NUM_NODE_PER_TYPE',
  'cluster-limit': 'MAX_NUM_NODES',
};

function toTermination(action: Action, at: number, originals: Originals): Fields | undefined {
  if (action.kind === 'launch') return undefined;
  const { because } = action;
  const cause = causes[because.kind];
  // Ray ends stopped and failed instances outside its planner.
  if (cause === undefined) return undefined;
  const original = originals.instances.get(action.instance);
  const instance = (original?.['im_instance'] ?? {}) as Fields;
  const node = action.kind === 'drain' ? action.node : '';
  return {
    $pb: 'ray.rpc.autoscaler.im.TerminationRequest',
    cause,
    details: details(because, instance, originals),
    id: `terminate-${at + 1}`,
    ...(because.kind === 'idle' ? { idle_duration_ms: String(because.idleFor) } : {}),
    ...(instance['instance_id'] ? { instance_id: instance['instance_id'] } : {}),
    ...(instance['status'] === undefined ? {} : { instance_status: instance['status'] }),
    ...(instance['instance_type'] ? { instance_type: instance['instance_type'] } : {}),
    ...(because.kind === 'cluster-limit' ? { max_num_nodes: originals.maxNodes } : {}),
    ...(because.kind === 'type-limit'
      ? { max_num_nodes_per_type: originals.maxNodesOfType.get(String(instance['instance_type'])) }
      : {}),
    ...(node === '' ? {} : { ray_node_id: node }),
  };
}

function details(because: EndReason, instance: Fields, originals: Originals): string {
  const limits = (nodes: number | undefined, perType: number | undefined): string =>
    `max_num_nodes=${nodes ?? 'None'}, max_num_nodes_per_type=${perType ?? 'None'}`;
  switch (because.kind) {
    case 'idle':
      return `idle for ${because.idleFor / 1000} secs > timeout=${because.timeout / 1000} secs`;
    case 'unneeded-pending':
      return 'pending and not needed';
    case 'cluster-limit':
      return `Terminating node due to MAX_NUM_NODES: ${limits(originals.maxNodes, undefined)}`;
    case 'type-limit':
      return `Terminating node due to MAX_NUM_NODE_PER_TYPE: ${limits(undefined, originals.maxNodesOfType.get(String(instance['instance_type'])))}`;
    default:
      return `node from ${String(instance['instance_type'])} has outdated config`;
  }
}
