/** The API of TPUs, both of its versions. */
import type { LaunchAsked } from '../../cloud/call-log.ts';
import { type Caller, type Handlers, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import { pageOf } from '../paging.ts';
import type { NodeBody, QueuedBody } from '../shapes.ts';
import { isTpuZone, runtimeVersions, type TpuType, tpuTypes, typeOfConfig, typesIn } from '../tpu-catalog.ts';
import { nodeHandlers, versionOf } from './nodes.ts';
import { queuedHandlers } from './queued.ts';

/** Lists of what is sold, in one page or more. */
function offers(request: Request, what: string, all: readonly object[]): object {
  const { page, next } = pageOf(
    all,
    (request.query.get('pageSize') as number | undefined) || 1000,
    textAt(request.query, 'pageToken'),
  );
  return { [what]: page, ...(next !== undefined && { nextPageToken: next }) };
}

const parentOf = ({ path }: Request, { projectId }: Caller): string =>
  `projects/${projectId}/locations/${path.get('location')}`;

const writeType = (parent: string, { name, configType, topologies }: TpuType): object => ({
  name: `${parent}/acceleratorTypes/${name}`,
  type: name,
  acceleratorConfigs: topologies.map((topology) => ({ type: configType, topology })),
});

const writeLocation = ({ projectId }: Caller, zone: string): object => ({
  name: `projects/${projectId}/locations/${zone}`,
  locationId: zone,
});

const zonesWithTpus = ({ world }: Caller): readonly string[] =>
  Object.values(world.cloud.catalog.regions).flat().filter(isTpuZone);

const notFound = (name: string) => googleError('notFound', `Resource '${name}' was not found`);

const offerHandlers = handlers({
  'acceleratorTypes.list': (request: Request, caller) => {
    const parent = parentOf(request, caller);
    caller.may('tpu.acceleratortypes.list', parent);
    const all = typesIn(request.path.get('location')!).map((type) => writeType(parent, type));
    return offers(request, 'acceleratorTypes', all);
  },

  'acceleratorTypes.get': (request: Request, caller) => {
    const parent = parentOf(request, caller);
    const name = request.path.get('acceleratorType')!;
    caller.may('tpu.acceleratortypes.get', parent);
    const found = typesIn(request.path.get('location')!).find((type) => type.name === name);
    if (found === undefined) throw notFound(`${parent}/acceleratorTypes/${name}`);
    return writeType(parent, found);
  },

  'runtimeVersions.list': (request: Request, caller) => {
    const parent = parentOf(request, caller);
    caller.may('tpu.runtimeversions.list', parent);
    const here = isTpuZone(request.path.get('location')!) ? runtimeVersions : [];
    return offers(
      request,
      'runtimeVersions',
      here.map((version) => ({ name: `${parent}/runtimeVersions/${version}`, version })),
    );
  },

  'runtimeVersions.get': (request: Request, caller) => {
    const parent = parentOf(request, caller);
    const version = request.path.get('runtimeVersion')!;
    caller.may('tpu.runtimeversions.get', parent);
    if (!runtimeVersions.includes(version) || !isTpuZone(request.path.get('location')!))
      throw notFound(`${parent}/runtimeVersions/${version}`);
    return { name: `${parent}/runtimeVersions/${version}`, version };
  },

  'locations.list': (request: Request, caller) => {
    caller.may('tpu.locations.list');
    return offers(
      request,
      'locations',
      zonesWithTpus(caller).map((zone) => writeLocation(caller, zone)),
    );
  },

  'locations.get': (request: Request, caller) => {
    caller.may('tpu.locations.get');
    const zone = request.path.get('location')!;
    if (!zonesWithTpus(caller).includes(zone)) throw notFound(parentOf(request, caller));
    return writeLocation(caller, zone);
  },

  'operations.get': (request: Request, caller) => {
    const name = `${parentOf(request, caller)}/operations/${request.path.get('operation')}`;
    caller.may('tpu.operations.get', name);
    const found = caller.world.tpu.operations.get(name);
    if (found === undefined) throw notFound(name);
    return found.shown(versionOf(request));
  },

  'operations.list': (request: Request, caller) => {
    const parent = parentOf(request, caller);
    caller.may('tpu.operations.list', parent);
    const all = [...caller.world.tpu.operations.values()].filter(({ name }) => name.startsWith(`${parent}/`));
    return offers(
      request,
      'operations',
      all.map((each) => each.shown(versionOf(request))),
    );
  },
});

export const tpuHandlers: Handlers = new Map([...nodeHandlers, ...queuedHandlers, ...offerHandlers]);

/** What a request for slices asks for, as far as it says so itself; `count` is that of slices. */
export function askedOf({ path, query, body }: Request): LaunchAsked {
  const queued = body as QueuedBody;
  const [spec] = queued.tpu?.nodeSpec ?? [];
  const node = spec?.node ?? (body as NodeBody);
  const { acceleratorConfig: config, schedulingConfig: scheduling } = node;
  const type = typeOfConfig(tpuTypes.values(), config);
  const token = textAt(query, 'nodeId') ?? textAt(query, 'queuedResourceId');
  const reserved = scheduling?.reserved || queued.guaranteed !== undefined || queued.reservationName !== undefined;
  const spot = scheduling?.spot || scheduling?.preemptible || queued.spot !== undefined;
  const zone = path.get('location');
  return {
    type: node.acceleratorType ?? type?.name ?? '',
    ...(zone !== undefined && { zone }),
    market: reserved ? 'reserved' : spot ? 'spot' : 'on-demand',
    count: spec?.multisliceParams?.nodeCount ?? queued.tpu?.nodeSpec?.length ?? 1,
    ...(token !== undefined && { token }),
  };
}
