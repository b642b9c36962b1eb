/** Random requests to Ray's planner over its whole input space, in their JSON form. The same seed gives the same request. */
import { Random } from './random.ts';

type Json = Record<string, unknown>;

const statuses = [
  ['RAY_RUNNING', 12],
  ['QUEUED', 2],
  ['REQUESTED', 2],
  ['ALLOCATED', 3],
  ['RAY_INSTALLING', 2],
  ['RAY_STOP_REQUESTED', 1],
  ['RAY_STOPPING', 1],
  ['RAY_STOPPED', 1],
  ['TERMINATING', 1],
  ['TERMINATED', 1],
  ['ALLOCATION_FAILED', 1],
  ['RAY_INSTALL_FAILED', 1],
  ['TERMINATION_FAILED', 1],
  ['ALLOCATION_TIMEOUT', 1],
  ['UNKNOWN', 1],
] as const;

const labelValues: Record<string, readonly string[]> = { zone: ['a', 'b', ''], accel: ['T4', 'A100'], team: ['x'] };
// Amounts are sums of powers of two: Ray adds up protobuf maps in an order that changes from run to run.
const amounts = [1, 1, 1, 2, 2, 3, 4, 8, 0, 0.5, 0.25, 16];
const names = ['CPU', 'CPU', 'CPU', 'GPU', 'memory', 'x', 'y'];
const implicit = 'node:__internal_implicit_resource_a';

export function randomRequest(seed: number): Json {
  const random = new Random(seed);
  const simple = random.chance(0.3);
  const types = randomTypes(random, simple);
  const typeNames = Object.keys(types);
  const idleTimes = [null, null, 0, 1, 5, 10, 0.5];
  return {
    cloud_resource_availabilities: availabilities(random, typeNames),
    recoverable_resource_availabilities: availabilities(random, typeNames),
    cluster_resource_constraints: random.chance(0.35)
      ? [{ resource_requests: random.list(0, 3, () => counted(random, false)) }]
      : [],
    current_instances: random.list(0, random.pick([0, 2, 6, 14]), (at) => randomInstance(random, types, at, simple)),
    disable_launch_config_check: random.chance(0.6),
    gang_resource_requests: random.list(0, random.pick([0, 0, 1, 3, 5]), () => randomGang(random)),
    idle_timeout_s: random.pick(idleTimes),
    pending_idle_timeout_s: random.pick([null, null, 0, 5, -1]),
    max_num_nodes: random.pick([null, null, null, 0, 1, 2, 3, 5, 8, 12, 20]),
    node_type_configs: types,
    resource_requests: random.list(0, random.pick([0, 1, 3, 7]), () => counted(random, true)),
  };
}

function randomTypes(random: Random, simple: boolean): Record<string, Json> {
  const types: Record<string, Json> = {};
  for (const name of random.shuffle(['small', 'big', 'gpu', 'b', 'a', 'head']).slice(0, random.int(1, 5))) {
    const max = random.pick([0, 1, 2, 3, 5, 10]);
    types[name] = {
      name,
      min_worker_nodes: Math.min(max, random.pick([0, 0, 0, 0, 1, 2, 4])),
      max_worker_nodes: max,
      idle_timeout_s: random.pick([null, null, null, 0, 2, 20]),
      priority: random.pick([0, 0, 0, 1, 2]),
      launch_config_hash: random.pick(['', '', 'h1', 'h2']),
      resources: simple ? { CPU: random.pick([1, 2, 4]) } : bundle(random, 1, 4),
      labels: labels(random),
    };
  }
  return types;
}

function randomInstance(random: Random, types: Record<string, Json>, at: number, simple: boolean): Json {
  const type = random.chance(0.03) ? 'gone' : random.pick(Object.keys(types));
  const status = random.weighted(statuses);
  const resources = (types[type]?.['resources'] ?? { CPU: 4 }) as Record<string, number>;
  const hasNode = status === 'RAY_RUNNING' ? !random.chance(0.03) : random.chance(0.1);
  const total: Record<string, number> = { ...resources };
  if (!simple && random.chance(0.7)) total[`node:10.0.0.${at}`] = 1;
  if (random.chance(0.1)) total['object_store_memory'] = 4;
  const available: Record<string, number> = {};
  for (const [name, amount] of Object.entries(total)) {
    if (random.chance(0.05)) continue;
    available[name] = random.chance(0.4) ? amount : Math.floor(random.int(0, 4) * amount) / 4;
  }
  const node: Json = {
    ray_node_type_name: type,
    total_resources: total,
    available_resources: available,
    idle_duration_ms: String(random.pick([0, 0, 0, 1000, 1000, 3000, 7000, 30000])),
    labels: labels(random),
    ...(random.chance(0.1) ? { dynamic_labels: { [`_PG_${random.int(0, 1)}`]: '' } } : {}),
  };
  return {
    cloud_instance_id: random.chance(0.5) ? `c-${at}` : null,
    im_instance: random.chance(0.02)
      ? null
      : {
          ...(random.chance(0.95) ? { instance_id: `i-${at}` } : {}),
          instance_type: type,
          status,
          ...(hasNode && random.chance(0.95) ? { node_id: `r-${at}` } : {}),
          ...(random.chance(0.08) ? { node_kind: 'HEAD' } : random.chance(0.5) ? { node_kind: 'WORKER' } : {}),
          ...(random.chance(0.6) ? { launch_config_hash: random.pick(['h1', 'h2']) } : {}),
        },
    ray_node: hasNode ? node : null,
  };
}

function randomGang(random: Random): Json {
  const strategy = random.pick(['pack', 'apart', 'together', 'mixed', 'mixed']);
  const id = random.int(0, 3);
  const request = (): Json => {
    const kind = strategy === 'mixed' ? random.pick(['pack', 'apart', 'together', 'nothing']) : strategy;
    const rule = { label_name: `_PG_${id}`, label_value: '' };
    return {
      resources_bundle: bundle(random, 0, 3),
      ...(kind === 'apart' ? { placement_constraints: [{ anti_affinity: rule }] } : {}),
      ...(kind === 'together' ? { placement_constraints: [{ affinity: rule }] } : {}),
      ...(kind === 'nothing' && random.chance(0.1) ? { placement_constraints: [{}] } : {}),
      ...selectors(random, 0.2),
    };
  };
  const requests = random.list(0, random.pick([1, 3, 6]), request);
  const form = random.pick(['requests', 'requests', 'both', 'selectors', 'different']);
  const bundles = form === 'different' ? random.list(0, 4, request) : requests;
  return {
    details: `pg${id}:${strategy}|PENDING`,
    ...(form === 'selectors' ? {} : { requests }),
    ...(form === 'requests' ? {} : { bundle_selectors: [{ resource_requests: bundles }] }),
  };
}

function counted(random: Random, placement: boolean): Json {
  return {
    count: random.pick([1, 1, 1, 2, 3, 5, 9, 0, '4']),
    request: {
      resources_bundle: bundle(random, 0, 3),
      ...selectors(random, 0.2),
      ...(placement && random.chance(0.12)
        ? { placement_constraints: random.list(1, 2, () => placementRule(random)) }
        : {}),
    },
  };
}

function placementRule(random: Random): Json {
  const rule = { label_name: random.pick(['team', '_PG_0', '_PG_1']) };
  const valued = { ...rule, label_value: rule.label_name === 'team' ? 'x' : '' };
  return random.pick<Json>([{ anti_affinity: valued }, { anti_affinity: valued }, { affinity: valued }, {}]);
}

function bundle(random: Random, least: number, most: number): Record<string, number> {
  const resources: Record<string, number> = {};
  for (let n = random.int(least, most); n > 0; n--) resources[random.pick(names)] = random.pick(amounts);
  if (random.chance(0.04)) resources[implicit] = random.pick([1, 0.5, 0.25]);
  return resources;
}

function labels(random: Random): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, values] of Object.entries(labelValues)) if (random.chance(0.3)) picked[name] = random.pick(values);
  return picked;
}

function selectors(random: Random, chance: number): Json {
  if (!random.chance(chance)) return {};
  const rule = (): Json => {
    const label = random.pick([...Object.keys(labelValues), 'none']);
    return {
      label_key: label,
      operator: random.pick([
        'LABEL_OPERATOR_IN',
        'LABEL_OPERATOR_IN',
        'LABEL_OPERATOR_NOT_IN',
        'LABEL_OPERATOR_UNSPECIFIED',
      ]),
      label_values: random.list(0, 2, () => random.pick(labelValues[label] ?? ['a'])),
    };
  };
  return { label_selectors: random.list(1, 3, () => ({ label_constraints: random.list(0, 2, rule) })) };
}

function availabilities(random: Random, types: readonly string[]): Record<string, number> {
  const scores: Record<string, number> = {};
  if (random.chance(0.3)) for (const name of types) if (random.chance(0.6)) scores[name] = random.pick([0, 0.5, 1]);
  return scores;
}
