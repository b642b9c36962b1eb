import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { errorInfo, googleError } from '../errors.ts';
import { labelProblem, time } from '../names.ts';
import { pageOf } from '../paging.ts';
import type { NodeBody } from '../shapes.ts';
import { topologyOf } from '../tpu-catalog.ts';
import { QuotaRefusal, type TpuOperation } from './operation.ts';
import { orderOf } from './slice-order.ts';
import type { NodeState, Slice } from './world.ts';

/** `v2` or `v2alpha1`, as paths and types have it. */
export const versionOf = ({ path }: Request): string => path.get('version')!;

function writeNode(caller: Pick<Caller, 'world'>, slice: Slice, at = caller.world.now()): object {
  const state: NodeState = caller.world.tpu.stateOf(slice, at) ?? 'CREATING';
  const { body, type, market } = slice;
  const ready = slice.hosts.map((host) => host.asOf(at));
  const { acceleratorType: _type, acceleratorConfig: config, labels: _labels, metadata: _metadata, ...asked } = body;
  return {
    ...asked,
    name: slice.name,
    id: slice.number,
    state,
    health: state === 'READY' ? 'HEALTHY' : state === 'REPAIRING' ? 'UNHEALTHY_MAINTENANCE' : 'HEALTH_UNSPECIFIED',
    acceleratorType: type.name,
    acceleratorConfig: { type: type.configType, topology: topologyOf(type, config) },
    createTime: time(slice.createdAt),
    apiVersion: 'V2_ALPHA1',
    ...(Object.keys(slice.labels).length > 0 && { labels: slice.labels }),
    ...(Object.keys(slice.metadata).length > 0 && { metadata: slice.metadata }),
    networkConfig: {
      network: slice.subnetwork.network,
      subnetwork: slice.subnetwork.link,
      enableExternalIps: slice.outside,
    },
    networkEndpoints: ready.map((host) => ({
      port: 8470,
      ...(host?.address !== undefined && { ipAddress: host.address }),
      accessConfig: host?.outside === undefined ? {} : { externalIp: host.outside },
    })),
    schedulingConfig: { ...body.schedulingConfig, ...(market === 'spot' && { spot: true }) },
    serviceAccount: { email: slice.account.email, scope: slice.account.scopes },
    ...(slice.queued !== undefined && { queuedResource: slice.queued }),
  };
}

function named({ path }: Request, caller: Caller, permission: string): Slice {
  const name = `projects/${caller.projectId}/locations/${path.get('location')}/nodes/${path.get('node')}`;
  caller.may(permission, name);
  const found = caller.world.tpu.slices.get(name);
  if (found === undefined) throw googleError('notFound', `Resource '${name}' was not found`);
  return found;
}

/** A slice is there when all of its hosts run; one that never comes to it takes the others with it. */
function followCreate(caller: Caller, slice: Slice, operation: TpuOperation): void {
  const { tpu } = caller.world;
  let waiting = slice.hosts.length;
  for (const host of slice.hosts)
    caller.world.watch(host, ({ now }) => {
      if (now.state === 'pending') return false;
      waiting--;
      const refused = slice.hosts.map((each) => each.now.refused).find((each) => each !== undefined);
      if (refused !== undefined) {
        const code = refused.code === 'quota' || refused.code === 'no-capacity' ? 8 : 13;
        operation.finish({ error: { code, message: refused.message } });
        tpu.remove(slice);
      } else if (now.state !== 'running')
        operation.finish({
          error: { code: 10, message: `The node ${slice.name} was ended while it was being created.` },
        });
      else if (waiting === 0) operation.finish({ response: () => writeNode(caller, slice) });
      return true;
    });
}

/** The quota of a project is told with a status of its own. */
export function quotaTold<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof QuotaRefusal)) throw error;
    throw googleError('resourceExhausted', error.message, errorInfo('RATE_LIMIT_EXCEEDED', 'tpu.googleapis.com'));
  }
}

export const stuck = (caller: Caller, zone: string, type?: string): boolean =>
  caller.world.cloud.faults.take('stuck-operation', {
    operation: caller.name,
    account: caller.projectId,
    zone,
    type,
  }) !== undefined;

function create(request: Request<NodeBody>, caller: Caller): object {
  const zone = request.path.get('location')!;
  const id = textAt(request.query, 'nodeId') ?? '';
  const parent = `projects/${caller.projectId}/locations/${zone}`;
  caller.may('tpu.nodes.create', parent);
  const order = orderOf(caller, zone, id, request.body);
  const { tpu } = caller.world;
  if (tpu.slices.has(`${parent}/nodes/${id}`))
    throw googleError('alreadyExists', `Resource '${parent}/nodes/${id}' already exists`);
  const made = quotaTold(() => tpu.make([order]));
  const operation = tpu.begin(order, `${parent}/nodes/${id}`, 'create', stuck(caller, zone, order.type.name));
  const denied = order.outside ? caller.project.policies.get('compute.vmExternalIpAccess') : undefined;
  if ('error' in made) queueMicrotask(() => operation.finish({ error: made.error }));
  else if (denied !== undefined) {
    const message = `Constraint constraints/compute.vmExternalIpAccess violated for project ${caller.project.number}.`;
    tpu.delete(made.slices[0]!, () => operation.finish({ error: { code: 9, message } }));
  } else followCreate(caller, made.slices[0]!, operation);
  return operation.shown(versionOf(request));
}

export const unreachable = (caller: Caller, zone: string): boolean =>
  caller.world.cloud.faults.take('unreachable', {
    call: 'list',
    operation: caller.name,
    account: caller.projectId,
    zone,
  }) !== undefined;

/** Zones that a list is about: one, or all of them. */
export const zonesOf = (caller: Caller, location: string): readonly string[] =>
  location === '-' ? Object.values(caller.world.cloud.catalog.regions).flat() : [location];

function list(request: Request, caller: Caller): object {
  const location = request.path.get('location')!;
  caller.may('tpu.nodes.list', `projects/${caller.projectId}/locations/${location}`);
  const { world, projectId } = caller;
  const { tpu, cloud } = world;
  const at = world.now() - 1000 * cloud.settings.list_lag_s;
  const zones = zonesOf(caller, location);
  const missing = zones.filter((zone) => unreachable(caller, zone));
  const all = [...tpu.slices.values()].filter(
    (slice) =>
      slice.project.id === projectId &&
      zones.includes(slice.zone) &&
      !missing.includes(slice.zone) &&
      tpu.stateOf(slice, at) !== undefined,
  );
  const size = Math.min((request.query.get('pageSize') as number | undefined) || 1000, cloud.settings.page_size);
  const { page, next } = pageOf(all, size, textAt(request.query, 'pageToken'));
  return {
    nodes: page.map((slice) => writeNode(caller, slice, at)),
    ...(missing.length > 0 && { unreachable: missing.map((zone) => `projects/${projectId}/locations/${zone}`) }),
    ...(next !== undefined && { nextPageToken: next }),
  };
}

function power(request: Request, caller: Caller, verb: 'start' | 'stop'): object {
  const slice = named(request, caller, `tpu.nodes.${verb}`);
  const { tpu, cloud } = caller.world;
  if (slice.hosts.length > 1)
    throw googleError(
      'failedPrecondition',
      `Cloud TPU Pod slices cannot be ${verb === 'stop' ? 'stopped' : 'started'}.`,
    );
  const operation = tpu.begin(slice, slice.name, verb, stuck(caller, slice.zone));
  const [host] = slice.hosts;
  slice.starting = verb === 'start';
  cloud[verb](caller.projectId, host!.id);
  caller.world.watch(host!, ({ now, exists }) => {
    if (exists && now.state !== (verb === 'stop' ? 'stopped' : 'running')) return false;
    operation.finish({ response: () => writeNode(caller, slice) });
    return true;
  });
  return operation.shown(versionOf(request));
}

function patch(request: Request<NodeBody>, caller: Caller): object {
  const slice = named(request, caller, 'tpu.nodes.update');
  const fields = (textAt(request.query, 'updateMask') ?? '').split(',').filter(Boolean);
  const other = fields.find((field) => !/^(?:labels|metadata|description|tags)$/.test(field));
  if (fields.length === 0 || other !== undefined)
    throw googleError('invalid', `Invalid update mask: "${fields.join(',')}"`);
  const { labels = {}, metadata = {} } = request.body;
  const problem = labelProblem(labels);
  if (problem !== undefined) throw googleError('invalid', `Invalid labels: ${problem}`);
  const { tpu, cloud } = caller.world;
  if (fields.includes('labels')) {
    slice.labels = labels;
    for (const host of slice.hosts) if (host.exists) cloud.retag(caller.projectId, host.id, labels);
  }
  if (fields.includes('metadata')) {
    slice.metadata = metadata;
    caller.world.tellMetadata();
  }
  const operation = tpu.begin(slice, slice.name, 'update', stuck(caller, slice.zone));
  queueMicrotask(() => operation.finish({ response: () => writeNode(caller, slice) }));
  return operation.shown(versionOf(request));
}

export const nodeHandlers = handlers({
  'nodes.create': create,
  'nodes.list': list,
  'nodes.patch': patch,
  'nodes.start': (request: Request, caller) => power(request, caller, 'start'),
  'nodes.stop': (request: Request, caller) => power(request, caller, 'stop'),

  'nodes.get': (request: Request, caller) => {
    const slice = named(request, caller, 'tpu.nodes.get');
    const { world } = caller;
    return writeNode(caller, slice, Math.max(slice.createdAt, world.now() - 1000 * world.cloud.settings.list_lag_s));
  },

  'nodes.delete': (request: Request, caller) => {
    const slice = named(request, caller, 'tpu.nodes.delete');
    const { tpu } = caller.world;
    const operation = tpu.begin(slice, slice.name, 'delete', stuck(caller, slice.zone));
    tpu.delete(slice, () => operation.finish({ response: () => ({}) }));
    return operation.shown(versionOf(request));
  },
});
