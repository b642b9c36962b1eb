import { ownValue } from '../../base/own-value.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { GangDemand, PlacementRule, Request, StandingDemand, TaskDemand } from '../demand.ts';
import type { InstanceStatus, InstanceView } from '../instance.ts';
import type { LabelSelector } from '../resources.ts';
import type { ScalingSpec, ScalingType } from '../scaling.ts';
import type { View } from '../view.ts';
import { countsAsNode } from './pass.ts';
import type { Policy } from './policy.ts';
import { countAt, type Fields, fieldsOf, listAt, mapAt, numberAt, optionalNumberAt, textAt } from './ray-fields.ts';

/** A request to Ray's autoscaler-v2 planner, read into Manta's terms, with the originals to answer in Ray's terms. */
export interface RayRequest {
  readonly view: View;
  readonly spec: ScalingSpec;
  readonly now: Instant;
  readonly originals: Originals;
}

export interface Originals {
  readonly requests: ReadonlyMap<Request, Fields>;
  readonly gangs: ReadonlyMap<string, Fields>;
  readonly standing: ReadonlyMap<StandingDemand, Fields>;
  readonly instances: ReadonlyMap<string, Fields>;
  readonly maxNodes: number | undefined;
  readonly maxNodesOfType: ReadonlyMap<string, number>;
}

const statuses: Readonly<Record<string, InstanceStatus>> = {
  QUEUED: 'queued',
  REQUESTED: 'requested',
  ALLOCATED: 'allocated',
  RAY_INSTALLING: 'setting-up',
  RAY_RUNNING: 'running',
  RAY_STOP_REQUESTED: 'drain-requested',
  RAY_STOPPING: 'draining',
  RAY_STOPPED: 'stopped',
  TERMINATING: 'terminating',
  TERMINATED: 'terminated',
  ALLOCATION_FAILED: 'launch-failed',
  RAY_INSTALL_FAILED: 'setup-failed',
  TERMINATION_FAILED: 'terminate-failed',
  ALLOCATION_TIMEOUT: 'launch-timeout',
};

/** Ray's numbers for them, from 1. */
const statusNumbers = Object.keys(statuses);

/**
 * Reads a request in the form of Ray's SchedulingRequest, protobuf messages in their JSON form. `typeOrder` gives the
 * order of node types where JavaScript would not keep it (names that are numbers). Throws MANTA_PLAN_BAD_REQUEST.
 */
export function readRayRequest(line: unknown, policy: Policy, typeOrder?: readonly string[]): RayRequest {
  const fields = requestOf(line);
  const now = 0;
  const { views, instances } = readInstances(fields);
  const { nodeTypes, maxNodesOfType, heads } = readTypes(fields, views, policy, typeOrder);
  const maxNodes = optionalNumberAt(fields, 'max_num_nodes', '');
  const idle = optionalNumberAt(fields, 'idle_timeout_s', '');
  const pendingIdle = optionalNumberAt(fields, 'pending_idle_timeout_s', '');
  const { demand, requests, gangs, standing } = readDemand(fields);
  return {
    now,
    view: {
      at: now,
      complete: { engine: true, provider: true },
      instances: views,
      demand,
      memory: { refusals: [], unneededSince: {}, availability: readAvailability(fields) },
    },
    spec: {
      ...(maxNodes === undefined ? {} : { maxWorkers: maxNodes - heads }),
      ...(idle === undefined ? {} : { idleTimeout: idle * 1000 }),
      ...(pendingIdle === undefined ? {} : { pendingIdleTimeout: pendingIdle * 1000 }),
      // In Ray the speed is not the planner's business but its reconciler's.
      upscalingSpeed: Number.POSITIVE_INFINITY,
      nodeTypes,
      headType: views.find((view) => view.kind === 'head')?.type ?? '',
      replaceOutdated: fields['disable_launch_config_check'] !== true,
    },
    originals: { requests, gangs, standing, instances, maxNodes, maxNodesOfType },
  };
}

function readInstances(fields: Fields): Pick<Originals, 'instances'> & { readonly views: readonly InstanceView[] } {
  const instances = new Map<string, Fields>();
  const seen = new Set<string>();
  const views: InstanceView[] = [];
  for (const [at, value] of listAt(fields, 'current_instances', '').entries()) {
    const path = `current_instances[${at}]`;
    const entry = fieldsOf(value, path);
    if (entry['im_instance'] === null || entry['im_instance'] === undefined) continue;
    const name = textAt(fieldsOf(entry['im_instance'], path), 'instance_id', path, '');
    const id = name === '' || seen.has(name) ? `${name}#${at}` : name;
    seen.add(name);
    const view = readInstance(entry, path, id);
    if (view === undefined) continue;
    instances.set(id, entry);
    views.push(view);
  }
  return { views, instances };
}

/** `heads`: how many of the instances Ray counts as heads. */
function readTypes(
  fields: Fields,
  views: readonly InstanceView[],
  policy: Policy,
  typeOrder: readonly string[] | undefined,
): Pick<Originals, 'maxNodesOfType'> & { readonly nodeTypes: readonly ScalingType[]; readonly heads: number } {
  const configs = mapAt(fields, 'node_type_configs', '');
  // A pending instance of a type that is gone is not a head to Ray any more.
  const heads = views.filter(
    (view) =>
      view.kind === 'head' &&
      countsAsNode(view, policy) &&
      (view.status === 'running' || Object.hasOwn(configs, view.type)),
  );
  const maxNodesOfType = new Map<string, number>();
  const nodeTypes = (typeOrder ?? Object.keys(configs)).map((name) => {
    const path = `node_type_configs.${name}`;
    const config = fieldsOf(ownValue(configs, name), path);
    maxNodesOfType.set(name, countAt(config, 'max_worker_nodes', path));
    return readType(name, config, path, heads.filter(({ type }) => type === name).length);
  });
  return { nodeTypes, maxNodesOfType, heads: heads.length };
}

function readDemand(
  fields: Fields,
): Pick<Originals, 'requests' | 'gangs' | 'standing'> & { readonly demand: View['demand'] } {
  const requests = new Map<Request, Fields>();
  const read = (value: unknown, path: string): Request => {
    const original = fieldsOf(value, path);
    const request = readRequest(original, path);
    requests.set(request, original);
    return request;
  };
  const readCounted = (value: unknown, path: string): TaskDemand => {
    const entry = fieldsOf(value, path);
    return { request: read(entry['request'] ?? {}, `${path}.request`), count: countAt(entry, 'count', path) };
  };
  const gangs = new Map<string, Fields>();
  const gangDemands = listAt(fields, 'gang_resource_requests', '').map((value, at): GangDemand => {
    const path = `gang_resource_requests[${at}]`;
    const original = fieldsOf(value, path);
    gangs.set(`${at}`, original);
    return readGang(original, `${at}`, path, read);
  });
  const standing = new Map<StandingDemand, Fields>();
  for (const [at, value] of listAt(fields, 'cluster_resource_constraints', '').entries()) {
    const path = `cluster_resource_constraints[${at}]`;
    const original = fieldsOf(value, path);
    const counted = listAt(original, 'resource_requests', path).map((one, k) =>
      readCounted(one, `${path}.resource_requests[${k}]`),
    );
    standing.set({ requests: counted }, original);
  }
  const tasks = listAt(fields, 'resource_requests', '').map((one, at) => readCounted(one, `resource_requests[${at}]`));
  return { demand: { tasks, gangs: gangDemands, standing: [...standing.keys()] }, requests, gangs, standing };
}

function readAvailability(fields: Fields): NonNullable<View['memory']['availability']> {
  const availability: Record<string, { recoverable?: number; recent?: number }> = Object.create(null);
  const note = (key: string, as: 'recoverable' | 'recent'): void => {
    const map = mapAt(fields, key, '');
    for (const name of Object.keys(map))
      availability[name] = { ...ownValue(availability, name), [as]: numberAt(map, name, key, 1) };
  };
  note('recoverable_resource_availabilities', 'recoverable');
  note('cloud_resource_availabilities', 'recent');
  return availability;
}

/** A recorded case holds the request under `in` and `args`. */
function requestOf(line: unknown): Fields {
  let fields = fieldsOf(line, '');
  if (fields['in'] !== undefined) fields = fieldsOf(fields['in'], 'in');
  if (fields['args'] !== undefined) fields = fieldsOf(listAt(fields, 'args', '')[0], 'args[0]');
  return fields;
}

function readType(name: string, config: Fields, path: string, heads: number): ScalingType {
  const idle = optionalNumberAt(config, 'idle_timeout_s', path);
  return {
    name,
    resources: readAmounts(config, 'resources', path),
    labels: readLabels(config, 'labels', path),
    // Ray counts the head among the nodes of its type, Manta does not.
    minWorkers: countAt(config, 'min_worker_nodes', path) - heads,
    maxWorkers: countAt(config, 'max_worker_nodes', path) - heads,
    ...(idle === undefined ? {} : { idleTimeout: idle * 1000 }),
    priority: numberAt(config, 'priority', path, 0),
    launchHash: textAt(config, 'launch_config_hash', path, ''),
    hostsPerSlice: 1,
    offers: [{ market: 'on-demand' }],
  };
}

function readInstance(entry: Fields, path: string, id: string): InstanceView | undefined {
  const instance = fieldsOf(entry['im_instance'], `${path}.im_instance`);
  const given = instance['status'];
  const status = ownValue(statuses, typeof given === 'number' ? (statusNumbers[given - 1] ?? '') : String(given));
  if (status === undefined) return undefined;
  const kind = instance['node_kind'];
  const hash = textAt(instance, 'launch_config_hash', path, '');
  const node =
    entry['ray_node'] === null || entry['ray_node'] === undefined
      ? undefined
      : fieldsOf(entry['ray_node'], `${path}.ray_node`);
  return {
    id,
    type: textAt(instance, 'instance_type', path, ''),
    kind: kind === 'HEAD' || kind === 1 ? 'head' : 'worker',
    unmanaged: kind === undefined || kind === null || kind === 'UNMANAGED' || kind === 0,
    status,
    requestedAt: 0,
    since: 0,
    ...(hash === '' ? {} : { launchHash: hash }),
    ...(node === undefined
      ? {}
      : {
          node: {
            id: textAt(instance, 'node_id', path, ''),
            total: readAmounts(node, 'total_resources', path),
            available: readAmounts(node, 'available_resources', path),
            labels: { ...readLabels(node, 'labels', path), ...readLabels(node, 'dynamic_labels', path) },
            idleFor: numberAt(node, 'idle_duration_ms', path, 0),
          },
        }),
  };
}

function readGang(
  original: Fields,
  id: string,
  path: string,
  read: (value: unknown, path: string) => Request,
): GangDemand {
  const legacy = listAt(original, 'requests', path);
  const selectors = listAt(original, 'bundle_selectors', path);
  const legacyRules = legacy.reduce<number>(
    (sum, one) => sum + listAt(fieldsOf(one, path), 'placement_constraints', path).length,
    0,
  );
  const requests =
    selectors.length > 0
      ? listAt(fieldsOf(selectors[0], path), 'resource_requests', `${path}.bundle_selectors[0]`)
      : legacy;
  return {
    id,
    // Ray drops a request whose only placement constraint says nothing.
    requests: requests
      .filter((one) => !isEmptyConstraint(fieldsOf(one, path), path))
      .map((one, at) => read(one, `${path}.requests[${at}]`)),
    details: textAt(original, 'details', path, ''),
    weight: [legacyRules, legacy.length],
  };
}

function isEmptyConstraint(request: Fields, path: string): boolean {
  const constraints = listAt(request, 'placement_constraints', path).map((one) => fieldsOf(one, path));
  return constraints.length > 0 && constraints.every((one) => !one['affinity'] && !one['anti_affinity']);
}

function readRequest(original: Fields, path: string): Request {
  return {
    resources: readAmounts(original, 'resources_bundle', path),
    selectors: listAt(original, 'label_selectors', path).map(
      (selector): LabelSelector =>
        listAt(fieldsOf(selector, path), 'label_constraints', path).map((value) => {
          const rule = fieldsOf(value, path);
          const operator = rule['operator'];
          const isIn = operator === 'LABEL_OPERATOR_IN' || operator === 1;
          const isNotIn = operator === 'LABEL_OPERATOR_NOT_IN' || operator === 2;
          const values = listAt(rule, 'label_values', path).map(String);
          return {
            label: textAt(rule, 'label_key', path, ''),
            operator: isNotIn ? 'not-in' : 'in',
            // An operator that Ray does not know holds for no node.
            values: isIn || isNotIn ? values : [],
          };
        }),
    ),
    placement: listAt(original, 'placement_constraints', path).map((value): PlacementRule => {
      const constraint = fieldsOf(value, path);
      const kind = constraint['anti_affinity'] ? 'apart' : 'together';
      const rule = fieldsOf(constraint['anti_affinity'] ?? constraint['affinity'] ?? {}, path);
      return { kind, label: textAt(rule, 'label_name', path, ''), value: textAt(rule, 'label_value', path, '') };
    }),
  };
}

function readAmounts(fields: Fields, key: string, path: string): Record<string, number> {
  const map = mapAt(fields, key, path);
  return Object.fromEntries(Object.keys(map).map((name) => [name, numberAt(map, name, `${path}.${key}`, 0)]));
}

function readLabels(fields: Fields, key: string, path: string): Record<string, string> {
  const map = mapAt(fields, key, path);
  return Object.fromEntries(Object.keys(map).map((name) => [name, textAt(map, name, `${path}.${key}`, '')]));
}
