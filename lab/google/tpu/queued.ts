import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import { lastOf, numberOf, regionOfZone, time } from '../names.ts';
import { pageOf } from '../paging.ts';
import type { QueuedBody } from '../shapes.ts';
import { quotaTold, stuck, unreachable, versionOf, zonesOf } from './nodes.ts';
import type { QueuedResource } from './queue.ts';
import { orderOf } from './slice-order.ts';
import type { SliceOrder } from './world.ts';

const dataOf: Readonly<Record<QueuedResource['state'], string | undefined>> = {
  ACCEPTED: 'acceptedData',
  WAITING_FOR_RESOURCES: undefined,
  PROVISIONING: 'provisioningData',
  ACTIVE: 'activeData',
  SUSPENDED: 'suspendedData',
  FAILED: 'failedData',
  DELETING: 'deletingData',
};

function writeQueued({ name, createdAt, body, state, error }: QueuedResource): object {
  const data = dataOf[state];
  return {
    ...body,
    name,
    createTime: time(createdAt),
    state: { state, ...(data !== undefined && { [data]: error ? { error } : {} }), stateInitiator: 'SERVICE' },
  };
}

/** A slice for each node that is named, or for each number of a prefix. */
function ordersOf(caller: Caller, zone: string, name: string, body: QueuedBody): readonly SliceOrder[] {
  const specs = body.tpu?.nodeSpec ?? [];
  if (specs.length === 0) throw googleError('invalid', 'Missing required field: tpu.node_spec');
  const market =
    body.guaranteed !== undefined || body.reservationName !== undefined
      ? 'reserved'
      : body.spot !== undefined
        ? 'spot'
        : undefined;
  const reservation = body.reservationName === undefined ? undefined : lastOf(body.reservationName);
  const orders = specs.flatMap(({ nodeId, multisliceParams, node = {} }) => {
    const { nodeCount = 1, nodeIdPrefix = lastOf(name) } = multisliceParams ?? {};
    const ids =
      multisliceParams === undefined
        ? [nodeId ?? lastOf(name)]
        : Array.from({ length: nodeCount }, (_, index) => `${nodeIdPrefix}-${index}`);
    return ids.map((id) => orderOf(caller, zone, id, node, { market, reservation, queued: name }));
  });
  const [first] = orders;
  if (orders.some(({ type, market: each }) => type !== first!.type || each !== first!.market))
    throw googleError('invalid', 'All nodes of a queued resource must be of one accelerator type.');
  return orders;
}

function create(request: Request<QueuedBody>, caller: Caller): object {
  const zone = request.path.get('location')!;
  const id = textAt(request.query, 'queuedResourceId') ?? `qr-${numberOf(String(caller.world.now())).slice(0, 8)}`;
  const parent = `projects/${caller.projectId}/locations/${zone}`;
  const name = `${parent}/queuedResources/${id}`;
  caller.may('tpu.queuedResources.create', parent);
  caller.may('tpu.nodes.create', parent);
  const { world } = caller;
  if (world.tpu.queue.get(name) !== undefined) throw googleError('alreadyExists', `Resource '${name}' already exists`);
  const orders = ordersOf(caller, zone, name, request.body);
  const taken = orders.find((order) => world.tpu.slices.has(`${parent}/nodes/${order.id}`));
  if (taken !== undefined) throw googleError('alreadyExists', `Resource '${parent}/nodes/${taken.id}' already exists`);
  const { validUntilDuration, validUntilTime } = request.body.queueingPolicy ?? {};
  const until =
    validUntilTime !== undefined
      ? Date.parse(validUntilTime)
      : validUntilDuration !== undefined
        ? world.now() + 1000 * Number.parseFloat(validUntilDuration)
        : undefined;
  const base = { account: caller.projectId, region: regionOfZone(zone), createdAt: world.now(), tags: {} };
  const queued: QueuedResource = {
    id: name,
    ...base,
    name,
    zone,
    body: request.body,
    orders,
    until,
    state: 'ACCEPTED',
  };
  const operation = world.tpu.begin(orders[0]!, name, 'create', stuck(caller, zone, orders[0]!.type.name));
  quotaTold(() => world.tpu.checkQuota(orders));
  world.tpu.queue.add(queued);
  queueMicrotask(() => {
    world.tpu.queue.tick();
    operation.finish({ response: () => writeQueued(queued) });
  });
  return operation.shown(versionOf(request));
}

function named({ path }: Request, caller: Caller, permission: string): QueuedResource {
  const name = `projects/${caller.projectId}/locations/${path.get('location')}/queuedResources/${path.get('queuedResource')}`;
  caller.may(permission, name);
  const { queue } = caller.world.tpu;
  queue.tick();
  const found = queue.get(name);
  if (found === undefined) throw googleError('notFound', `Resource '${name}' was not found`);
  return found;
}

/** A request goes with its slices where it is forced, and without force only where it has none. */
function remove(request: Request, caller: Caller): object {
  const queued = named(request, caller, 'tpu.queuedResources.delete');
  const { tpu } = caller.world;
  const nodes = tpu.queue.nodesOf(queued).map((name) => tpu.slices.get(name)!);
  if (nodes.length > 0 && request.query.get('force') !== true)
    throw googleError(
      'failedPrecondition',
      `Queued resource ${queued.name} in state ${queued.state} has nodes. Delete its nodes first, or use force.`,
    );
  const operation = tpu.begin(queued.orders[0]!, queued.name, 'delete', stuck(caller, queued.zone));
  queued.state = 'DELETING';
  let left = nodes.length;
  const end = (): void => {
    tpu.queue.remove(queued);
    operation.finish({ response: () => ({}) });
  };
  if (left === 0) queueMicrotask(end);
  for (const slice of nodes)
    tpu.delete(slice, () => {
      if (--left === 0) end();
    });
  return operation.shown(versionOf(request));
}

export const queuedHandlers = handlers({
  'queuedResources.create': create,
  'queuedResources.get': (request: Request, caller) => writeQueued(named(request, caller, 'tpu.queuedResources.get')),
  'queuedResources.delete': remove,

  'queuedResources.list': (request: Request, caller) => {
    const location = request.path.get('location')!;
    const { projectId, world } = caller;
    caller.may('tpu.queuedResources.list', `projects/${projectId}/locations/${location}`);
    world.tpu.queue.tick();
    const zones = zonesOf(caller, location);
    const missing = zones.filter((zone) => unreachable(caller, zone));
    const all = world.tpu.queue
      .all()
      .filter(({ account, zone }) => account === projectId && zones.includes(zone) && !missing.includes(zone));
    const size = Math.min(
      (request.query.get('pageSize') as number | undefined) || 1000,
      world.cloud.settings.page_size,
    );
    const { page, next } = pageOf(all, size, textAt(request.query, 'pageToken'));
    return {
      queuedResources: page.map(writeQueued),
      ...(missing.length > 0 && { unreachable: missing.map((zone) => `projects/${projectId}/locations/${zone}`) }),
      ...(next !== undefined && { nextPageToken: next }),
    };
  },
});
