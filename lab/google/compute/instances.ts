import type { Disk } from '../../cloud/belongings.ts';
import type { Listed } from '../../cloud/cloud.ts';
import { CloudError } from '../../cloud/errors.ts';
import type { CloudInstance } from '../../cloud/instance.ts';
import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import { readFilter } from '../filter.ts';
import { labelProblem, linkOf } from '../names.ts';
import type { ComputeOperation, OperationError } from '../operations.ts';
import type { BulkBody, InstanceBody, MetadataBody } from '../shapes.ts';
import type { GoogleWorld } from '../world.ts';
import { bulkInsert } from './bulk-insert.ts';
import { insert } from './insert.ts';
import { checkFingerprint, checkMetadata, labelsChanged, metadataChanged, writeMetadata } from './metadata.ts';
import { quotaOfCloud } from './quotas.ts';
import { labelFingerprint, writeInstance } from './write-instance.ts';

interface Named {
  readonly instance: CloudInstance;
  readonly zone: string;
  readonly path: string;
}

function named({ path }: Request, caller: Caller, permission: string): Named {
  const [zone = '', name = ''] = [path.get('zone'), path.get('instance')];
  const whole = `projects/${caller.projectId}/zones/${zone}/instances/${name}`;
  caller.may(permission, whole);
  const instance = caller.world.instance(caller.projectId, zone, name);
  if (instance === undefined) throw googleError('notFound', `The resource '${whole}' was not found`);
  return { instance, zone, path: whole };
}

/** An operation on an instance, by a request that may come twice. */
function operate(
  request: Request,
  caller: Caller,
  { instance, zone }: Named,
  type: string,
  act: (operation: ComputeOperation) => void,
): object {
  const { project, world } = caller;
  return project.operations
    .once(textAt(request.query, 'requestId'), () => {
      const chance = { operation: caller.name, account: project.id, zone, type: instance.order.machine_type };
      const operation = project.operations.begin(
        {
          ...{ type, project: project.id, scope: `zones/${zone}`, user: caller.bearer.email },
          target: `zones/${zone}/instances/${instance.name}`,
          targetId: world.facts(instance)!.number,
        },
        world.cloud.faults.take('stuck-operation', chance) !== undefined,
      );
      act(operation);
      return operation;
    })
    .shown();
}

/** Ends the operation when the instance has come to this, or cannot any more. */
function until(
  world: GoogleWorld,
  instance: CloudInstance,
  operation: ComputeOperation,
  fits: (each: CloudInstance) => boolean,
): void {
  world.watch(instance, (each) => {
    if (!fits(each) && each.exists) return false;
    // What is true at once is still answered as under way.
    queueMicrotask(() => operation.finish());
    return true;
  });
}

/** Those that a list shows: what is deleted is not there, and what was refused never was. */
const isListed = ({ instance, snapshot }: Listed, world: GoogleWorld): boolean =>
  snapshot.state !== 'terminated' && snapshot.refused === undefined && world.facts(instance) !== undefined;

/** A page of instances of some zones. All pages tell of the same instant. */
function page({ query }: Request, { world, projectId }: Caller, inZone: (zone: string) => boolean) {
  const fits = readFilter(textAt(query, 'filter'));
  const disks = Map.groupBy(world.cloud.has.disks.of(projectId), (disk: Disk) => disk.instance ?? '');
  const shown = ({ instance, snapshot }: Listed): object =>
    writeInstance(world, instance, snapshot, disks.get(instance.id) ?? []);
  const pageSize = Math.min((query.get('maxResults') as number | undefined) || 500, 500);
  const { entries, next } = world.cloud.page(
    projectId,
    { pageSize, pageToken: textAt(query, 'pageToken') },
    (listed) => inZone(listed.instance.zone) && isListed(listed, world) && fits(shown(listed)),
  );
  return { items: entries.map((listed) => ({ zone: listed.instance.zone, item: shown(listed) })), next };
}

const unreachable = (caller: Caller, zone: string): boolean =>
  caller.world.cloud.faults.take('unreachable', {
    call: 'list',
    operation: caller.name,
    account: caller.projectId,
    zone,
  }) !== undefined;

function aggregatedList(request: Request, caller: Caller): object {
  caller.may('compute.instances.list');
  const { world, projectId } = caller;
  const zones = Object.values(world.cloud.catalog.regions).flat();
  const missing = zones.filter((zone) => unreachable(caller, zone));
  const { items, next } = page(request, caller, (zone) => !missing.includes(zone));
  const path = `projects/${projectId}/aggregated/instances`;
  const empty = (zone: string) => ({
    warning: {
      code: 'NO_RESULTS_ON_PAGE',
      message: `There are no results for scope 'zones/${zone}' on this page.`,
      data: [{ key: 'scope', value: `zones/${zone}` }],
    },
  });
  const gone = (zone: string) => ({
    warning: {
      code: 'UNREACHABLE',
      message: `The zone 'zones/${zone}' could not be reached.`,
      data: [{ key: 'scope', value: `zones/${zone}` }],
    },
  });
  const byZone = Map.groupBy(items, ({ zone }) => zone);
  const parts = zones.map((zone) => {
    const found = byZone.get(zone)?.map(({ item }) => item);
    return [`zones/${zone}`, missing.includes(zone) ? gone(zone) : found ? { instances: found } : empty(zone)];
  });
  return {
    kind: 'compute#instanceAggregatedList',
    id: path,
    items: Object.fromEntries(parts) as object,
    selfLink: linkOf(path),
    ...(missing.length > 0 && { unreachables: missing.map((zone) => `projects/${projectId}/zones/${zone}`) }),
    ...(next !== undefined && { nextPageToken: next }),
  };
}

function list(request: Request, caller: Caller): object {
  const zone = request.path.get('zone')!;
  const path = `projects/${caller.projectId}/zones/${zone}/instances`;
  caller.may('compute.instances.list', path);
  if (unreachable(caller, zone)) throw googleError('backendError', `The zone '${zone}' could not be reached.`);
  const { items, next } = page(request, caller, (each) => each === zone);
  return {
    kind: 'compute#instanceList',
    id: path,
    ...(items.length > 0 && { items: items.map(({ item }) => item) }),
    selfLink: linkOf(path),
    ...(next !== undefined && { nextPageToken: next }),
  };
}

function start(request: Request, caller: Caller): object {
  const found = named(request, caller, 'compute.instances.start');
  const { world, projectId } = caller;
  return operate(request, caller, found, 'start', (operation) => {
    try {
      world.cloud.start(projectId, found.instance.id);
      until(world, found.instance, operation, ({ now }) => now.state === 'running');
    } catch (error) {
      const failure = startError(world, error, found);
      queueMicrotask(() => operation.finish(failure));
    }
  });
}

function startError(world: GoogleWorld, error: unknown, { zone, instance }: Named): OperationError {
  if (!(error instanceof CloudError)) throw error;
  if (error.code === 'QuotaExceeded') return quotaOfCloud(world, error, zone);
  if (error.code !== 'InsufficientCapacity') throw error;
  const where = `projects/${instance.account}/zones/${zone}`;
  return {
    code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
    message: `The zone '${where}' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.`,
  };
}

export const instanceHandlers = handlers({
  'instances.insert': (request: Request<InstanceBody>, caller) => insert(request, caller).shown(),
  'instances.bulkInsert': (request: Request<BulkBody>, caller) => bulkInsert(request, caller).shown(),
  'instances.list': list,
  'instances.aggregatedList': aggregatedList,
  'instances.start': start,

  'instances.get': (request: Request, caller) => {
    const { instance, path } = named(request, caller, 'compute.instances.get');
    const { world } = caller;
    const snapshot = instance.asOf(world.now() - 1000 * world.cloud.settings.list_lag_s);
    if (snapshot === undefined) throw googleError('notFound', `The resource '${path}' was not found`);
    return writeInstance(world, instance, snapshot);
  },

  'instances.delete': (request: Request, caller) => {
    const found = named(request, caller, 'compute.instances.delete');
    const { world, projectId } = caller;
    if (world.facts(found.instance)!.body.deletionProtection)
      throw googleError(
        'invalid',
        `Invalid value for field 'resource.deletionProtection': 'true'. Resource cannot be deleted if it's protected against deletion.`,
      );
    return operate(request, caller, found, 'delete', (operation) => {
      until(world, found.instance, operation, ({ exists }) => !exists);
      world.cloud.terminate(projectId, [found.instance.id]);
    });
  },

  'instances.stop': (request: Request, caller) => {
    const found = named(request, caller, 'compute.instances.stop');
    const { world, projectId } = caller;
    return operate(request, caller, found, 'stop', (operation) => {
      world.cloud.stop(projectId, found.instance.id);
      until(world, found.instance, operation, ({ now }) => now.state === 'stopped');
    });
  },

  'instances.setLabels': (request: Request<{ labels?: Record<string, string>; labelFingerprint?: string }>, caller) => {
    const found = named(request, caller, 'compute.instances.setLabels');
    const { world, projectId } = caller;
    const { labels = {}, labelFingerprint: given } = request.body;
    const facts = world.facts(found.instance)!;
    checkFingerprint(given, labelFingerprint(found.instance.now.tags, facts), labelsChanged);
    const problem = labelProblem(labels);
    if (problem !== undefined)
      throw googleError('invalid', `Invalid value for field 'labels': '${JSON.stringify(labels)}'. ${problem}.`);
    return operate(request, caller, found, 'setLabels', (operation) => {
      facts.changes++;
      world.cloud.retag(projectId, found.instance.id, labels);
      queueMicrotask(() => operation.finish());
    });
  },

  'instances.setMetadata': (request: Request<MetadataBody>, caller) => {
    const found = named(request, caller, 'compute.instances.setMetadata');
    const facts = caller.world.facts(found.instance)!;
    const items = checkMetadata(request.body, 'metadata');
    const { fingerprint } = writeMetadata(facts.metadata, facts.changes) as { fingerprint: string };
    checkFingerprint(request.body.fingerprint, fingerprint, metadataChanged);
    return operate(request, caller, found, 'setMetadata', (operation) => {
      facts.metadata = items;
      facts.changes++;
      caller.world.tellMetadata();
      queueMicrotask(() => operation.finish());
    });
  },

  'instances.getSerialPortOutput': (request: Request, caller) => {
    const { instance, path } = named(request, caller, 'compute.instances.getSerialPortOutput');
    const contents = caller.world.cloud.console(caller.projectId, instance.id);
    return {
      kind: 'compute#serialPortOutput',
      contents,
      start: '0',
      next: String(contents.length),
      selfLink: linkOf(`${path}/serialPort`),
    };
  },
});
