/** Zones and regions, and what is sold in them. */
import { type Caller, handlers, type Request } from '../caller.ts';
import { accelerators, type GoogleType, googleTypes, isOffered } from '../catalog.ts';
import { googleError } from '../errors.ts';
import { linkOf, numberOf, regionOfZone, time } from '../names.ts';
import { aggregatedOf, listOf } from '../paging.ts';
import { writeQuotas } from './quotas.ts';

const begin = time(Date.UTC(2014, 4, 30));
const allZones = ({ world }: Caller): readonly string[] => Object.values(world.cloud.catalog.regions).flat();

/** What a path names, from the project on; refuses what the caller may not see, and zones that there are not. */
function at(
  { path }: Request,
  caller: Caller,
  permission: string,
  what: string,
): { readonly zone: string; readonly path: string } {
  const zone = path.get('zone') ?? '';
  const whole = `projects/${caller.projectId}/zones/${zone}/${what}`;
  caller.may(permission, whole);
  if (!allZones(caller).includes(zone))
    throw googleError('invalid', `Invalid value for field 'zone': '${zone}'. Unknown zone.`);
  return { zone, path: whole };
}

function writeType(caller: Caller, type: GoogleType, zone: string): object {
  return {
    kind: 'compute#machineType',
    id: numberOf(type.name),
    name: type.name,
    creationTimestamp: begin,
    description: `${type.cpus} vCPUs, ${type.mib / 1024} GB RAM`,
    guestCpus: type.cpus,
    memoryMb: Math.round(type.mib),
    architecture: type.arm ? 'ARM64' : 'X86_64',
    isSharedCpu: /^(?:e2|f1|g1)-(?:micro|small|medium)$/.test(type.name),
    maximumPersistentDisks: 128,
    maximumPersistentDisksSizeGb: '263168',
    ...(type.gpus && {
      accelerators: [{ guestAcceleratorType: type.gpus.type, guestAcceleratorCount: type.gpus.count }],
    }),
    zone,
    selfLink: linkOf(`projects/${caller.projectId}/zones/${zone}/machineTypes/${type.name}`),
  };
}

const typesIn = (caller: Caller, zone: string): readonly object[] =>
  [...googleTypes.values()].filter((type) => isOffered(type, zone)).map((type) => writeType(caller, type, zone));

const acceleratorsIn = (caller: Caller, zone: string): readonly object[] =>
  accelerators
    .filter(({ zones, retired }) => zones.test(zone) && (!retired || caller.world.sellsRetired))
    .map(({ name, description, most }) => ({
      kind: 'compute#acceleratorType',
      id: numberOf(name),
      name,
      creationTimestamp: begin,
      description,
      maximumCardsPerInstance: most,
      zone: linkOf(`projects/${caller.projectId}/zones/${zone}`),
      selfLink: linkOf(`projects/${caller.projectId}/zones/${zone}/acceleratorTypes/${name}`),
    }));

const everywhere = (caller: Caller, each: (caller: Caller, zone: string) => readonly object[]) =>
  allZones(caller).flatMap((zone) => each(caller, zone).map((item) => ({ scope: `zones/${zone}`, item })));

function writeZone({ projectId }: Caller, zone: string): object {
  return {
    kind: 'compute#zone',
    id: numberOf(zone),
    name: zone,
    description: zone,
    creationTimestamp: begin,
    status: 'UP',
    region: linkOf(`projects/${projectId}/regions/${regionOfZone(zone)}`),
    selfLink: linkOf(`projects/${projectId}/zones/${zone}`),
  };
}

function writeRegion({ world, project }: Caller, region: string): object {
  return {
    kind: 'compute#region',
    id: numberOf(region),
    name: region,
    description: region,
    creationTimestamp: begin,
    status: 'UP',
    zones: world.cloud.catalog.regions[region]!.map((zone) => linkOf(`projects/${project.id}/zones/${zone}`)),
    quotas: writeQuotas(world, project, region),
    selfLink: linkOf(`projects/${project.id}/regions/${region}`),
  };
}

/** Lists of what is sold are as long as Google's pages: what a test sets is about instances. */
const most = 500;

export const placeHandlers = handlers({
  'machineTypes.list': (request: Request, caller) => {
    const { zone, path } = at(request, caller, 'compute.machineTypes.list', 'machineTypes');
    return listOf(request, most, { kind: 'machineTypeList', path }, typesIn(caller, zone));
  },

  'machineTypes.get': (request: Request, caller) => {
    const name = request.path.get('machineType')!;
    const { zone, path } = at(request, caller, 'compute.machineTypes.get', `machineTypes/${name}`);
    const type = caller.world.type(name);
    if (type === undefined || !isOffered(type, zone))
      throw googleError('notFound', `The resource '${path}' was not found`);
    return writeType(caller, type, zone);
  },

  'machineTypes.aggregatedList': (request: Request, caller) => {
    caller.may('compute.machineTypes.list');
    const path = `projects/${caller.projectId}/aggregated/machineTypes`;
    const about = { kind: 'machineTypeAggregatedList', path, part: 'machineTypes' };
    return aggregatedOf(request, most, about, everywhere(caller, typesIn));
  },

  'acceleratorTypes.list': (request: Request, caller) => {
    const { zone, path } = at(request, caller, 'compute.acceleratorTypes.list', 'acceleratorTypes');
    return listOf(request, most, { kind: 'acceleratorTypeList', path }, acceleratorsIn(caller, zone));
  },

  'acceleratorTypes.get': (request: Request, caller) => {
    const name = request.path.get('acceleratorType')!;
    const { zone, path } = at(request, caller, 'compute.acceleratorTypes.get', `acceleratorTypes/${name}`);
    const found = acceleratorsIn(caller, zone).find((each) => (each as { name: string }).name === name);
    if (found === undefined) throw googleError('notFound', `The resource '${path}' was not found`);
    return found;
  },

  'acceleratorTypes.aggregatedList': (request: Request, caller) => {
    caller.may('compute.acceleratorTypes.list');
    const path = `projects/${caller.projectId}/aggregated/acceleratorTypes`;
    const about = { kind: 'acceleratorTypeAggregatedList', path, part: 'acceleratorTypes' };
    return aggregatedOf(request, most, about, everywhere(caller, acceleratorsIn));
  },

  'zones.list': (request: Request, caller) => {
    caller.may('compute.zones.list');
    const path = `projects/${caller.projectId}/zones`;
    return listOf(
      request,
      most,
      { kind: 'zoneList', path },
      allZones(caller).map((zone) => writeZone(caller, zone)),
    );
  },

  'zones.get': (request: Request, caller) => {
    const zone = request.path.get('zone')!;
    caller.may('compute.zones.get');
    if (!allZones(caller).includes(zone))
      throw googleError('notFound', `The resource 'projects/${caller.projectId}/zones/${zone}' was not found`);
    return writeZone(caller, zone);
  },

  'regions.list': (request: Request, caller) => {
    caller.may('compute.regions.list');
    const regions = Object.keys(caller.world.cloud.catalog.regions);
    const about = { kind: 'regionList', path: `projects/${caller.projectId}/regions` };
    return listOf(
      request,
      most,
      about,
      regions.map((region) => writeRegion(caller, region)),
    );
  },

  'regions.get': (request: Request, caller) => {
    const region = request.path.get('region')!;
    caller.may('compute.regions.get');
    if (!Object.hasOwn(caller.world.cloud.catalog.regions, region))
      throw googleError('notFound', `The resource 'projects/${caller.projectId}/regions/${region}' was not found`);
    return writeRegion(caller, region);
  },
});
