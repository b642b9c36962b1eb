import type { LaunchAsked } from '../../cloud/call-log.ts';
import type { Market } from '../../cloud/catalog.ts';
import { type Caller, type Request, textAt } from '../caller.ts';
import { accelerators, cpuMetric, type GoogleType, gpuMetric, isOffered } from '../catalog.ts';
import { googleError } from '../errors.ts';
import { labelProblem, lastOf, partial, regionOfZone } from '../names.ts';
import type { BulkBody, InstanceBody, InterfaceBody } from '../shapes.ts';
import type { Facts } from '../world.ts';
import { checkMetadata } from './metadata.ts';
import { type PlannedDisk, planDisks } from './plan-disks.ts';

/** Everything that an insert comes to, but for the names of its instances. */
export interface LaunchPlan {
  readonly zone: string;
  readonly body: InstanceBody;
  readonly type: GoogleType;
  readonly market: Market;
  readonly reservation: string | undefined;
  readonly subnetwork: Facts['subnetwork'];
  readonly outside: boolean;
  readonly account: Facts['account'];
  readonly disks: readonly PlannedDisk[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly labels: Readonly<Record<string, string>>;
  /** What one of them counts for, by quota. */
  readonly usage: Readonly<Record<string, number>>;
  readonly onPreemption: 'terminate' | 'stop';
}

const invalid = (field: string, value: string, why: string) =>
  googleError('invalid', `Invalid value for field 'resource.${field}': '${value}'. ${why}`);

export const isSpot = ({ scheduling }: InstanceBody): boolean =>
  scheduling?.preemptible === true || scheduling?.provisioningModel === 'SPOT';

/** What a request says goes before what its template says, member by member. */
export function withTemplate(caller: Caller, body: InstanceBody, link: string | undefined): InstanceBody {
  if (link === undefined || link === '') return body;
  const name = lastOf(link);
  const path = `projects/${caller.projectId}/global/instanceTemplates/${name}`;
  caller.may('compute.instanceTemplates.useReadOnly', path);
  const template = caller.project.templates.get(name);
  if (template === undefined) throw googleError('notFound', `The resource '${path}' was not found`);
  return { ...template.properties, ...body };
}

export function planOf(caller: Caller, zone: string, body: InstanceBody): LaunchPlan {
  const { world } = caller;
  if (!Object.values(world.cloud.catalog.regions).flat().includes(zone))
    throw googleError('invalid', `Invalid value for field 'zone': '${zone}'. Unknown zone.`);
  const type = typeOf(caller, zone, body);
  const gpus = gpusOf(caller, zone, body, type);
  const spot = isSpot(body);
  checkScheduling(body, gpus.size > 0);
  const problem = labelProblem(body.labels ?? {});
  if (problem !== undefined) throw invalid('labels', JSON.stringify(body.labels), `${problem}.`);
  const { subnetwork, outside } = planNetwork(caller, zone, body.networkInterfaces);
  const disks = planDisks(caller, zone, body, type);
  const metadata = checkMetadata(body.metadata, 'metadata');
  const count = (metric: string): string => (spot ? `PREEMPTIBLE_${metric}` : metric);
  const total = [...gpus.values()].reduce((sum, each) => sum + each, 0);
  const usage = {
    INSTANCES: 1,
    [spot ? 'PREEMPTIBLE_CPUS' : cpuMetric(type.family)]: type.cpus,
    CPUS_ALL_REGIONS: type.cpus,
    ...Object.fromEntries([...gpus].map(([name, each]) => [count(gpuMetric(name)), each])),
    ...(total > 0 && { GPUS_ALL_REGIONS: total }),
    ...(outside && { IN_USE_ADDRESSES: 1 }),
    ...diskUsage(disks),
  };
  const reservation = reservationOf(body);
  return {
    ...{ zone, body, type, subnetwork, outside, disks, metadata, usage, reservation },
    market: reservation !== undefined ? 'reserved' : spot ? 'spot' : 'on-demand',
    account: accountOf(caller, body),
    labels: body.labels ?? {},
    onPreemption: body.scheduling?.instanceTerminationAction === 'DELETE' ? 'terminate' : 'stop',
  };
}

function typeOf(caller: Caller, zone: string, { machineType: link = '' }: InstanceBody): GoogleType {
  if (link === '') throw googleError('required', "Required field 'resource.machineType' not specified");
  const match = /^(?:projects\/[^/]+\/)?zones\/([^/]+)\/machineTypes\/([^/]+)$/.exec(partial(link));
  if (match === null)
    throw invalid(
      'machineType',
      link,
      `The URL is malformed. Must be a match of regex '(?:projects/.*/)?zones/.*/machineTypes/.*'`,
    );
  const [, where = '', name = ''] = match;
  if (where !== zone)
    throw invalid(
      'machineType',
      link,
      `Machine type specified is in zone '${where}', but the instance is in '${zone}'.`,
    );
  const type = caller.world.type(name);
  if (type === undefined || !isOffered(type, zone))
    throw invalid('machineType', link, `Machine type with name '${name}' does not exist in zone '${zone}'.`);
  return type;
}

/** Accelerators by name: those that come with the machine, and those that are asked for. */
function gpusOf(caller: Caller, zone: string, body: InstanceBody, type: GoogleType): ReadonlyMap<string, number> {
  const found = new Map<string, number>(type.gpus && [[type.gpus.type, type.gpus.count]]);
  for (const { acceleratorType: link = '', acceleratorCount = 0 } of body.guestAccelerators ?? []) {
    const match = /^(?:projects\/[^/]+\/)?zones\/([^/]+)\/acceleratorTypes\/([^/]+)$/.exec(partial(link));
    const known = accelerators.find(({ name }) => name === match?.[2]);
    const field = 'guestAccelerators[0].acceleratorType';
    if (match === null) throw invalid(field, link, 'The URL is malformed.');
    if (
      match[1] !== zone ||
      known === undefined ||
      !known.zones.test(zone) ||
      (known.retired && !caller.world.sellsRetired)
    )
      throw googleError(
        'notFound',
        `The resource 'projects/${caller.projectId}/zones/${match[1]}/acceleratorTypes/${match[2]}' was not found`,
      );
    if (acceleratorCount > known.most)
      throw invalid(
        'guestAccelerators[0].acceleratorCount',
        String(acceleratorCount),
        `At most ${known.most} are allowed.`,
      );
    if (known.family === undefined && type.family !== 'n1')
      throw invalid(field, link, `Accelerator type ${known.name} is not supported with machine type ${type.name}.`);
    if (acceleratorCount > 0) found.set(known.name, acceleratorCount);
  }
  return found;
}

function checkScheduling({ scheduling }: InstanceBody, gpus: boolean): void {
  const spot = isSpot({ ...(scheduling && { scheduling }) });
  if (gpus && scheduling?.onHostMaintenance !== 'TERMINATE' && !spot)
    throw googleError(
      'invalid',
      'Instances with guest accelerators do not support live migration. Set onHostMaintenance to TERMINATE.',
    );
  if (spot && scheduling?.automaticRestart === true)
    throw invalid(
      'scheduling',
      'automaticRestart',
      'Scheduling must have automaticRestart be false when preemptible is true.',
    );
  if (spot && scheduling?.onHostMaintenance === 'MIGRATE')
    throw invalid(
      'scheduling',
      'onHostMaintenance',
      'Scheduling must have onHostMaintenance be TERMINATE when preemptible is true.',
    );
  if (scheduling?.instanceTerminationAction !== undefined && scheduling.provisioningModel !== 'SPOT')
    throw invalid(
      'scheduling.instanceTerminationAction',
      scheduling.instanceTerminationAction,
      'You cannot specify a termination action for a VM instance that has the standard provisioning model.',
    );
}

/** The first interface counts; without any it is that of the network that is there from the start. */
function planNetwork(
  caller: Caller,
  zone: string,
  interfaces: readonly InterfaceBody[] = [],
): { readonly subnetwork: Facts['subnetwork']; readonly outside: boolean } {
  const [given = {}] = interfaces;
  const region = regionOfZone(zone);
  const own = `projects/${caller.projectId}`;
  const link = partial(given.subnetwork ?? '');
  const whose = /^projects\/([^/]+)\//.exec(link)?.[1] ?? caller.projectId;
  const project = caller.world.project(whose);
  const network = lastOf(given.network ?? 'default');
  const found =
    link === ''
      ? [...caller.project.subnetworks.values()].find((each) => each.region === region && each.network === network)
      : project?.subnetworks.get(`${/regions\/([^/]+)/.exec(link)?.[1] ?? region}/${lastOf(link)}`);
  if (link === '' && !caller.project.networks.has(network))
    throw googleError('notFound', `The resource '${own}/global/networks/${network}' was not found`);
  if (found === undefined)
    throw googleError(
      'notFound',
      `The resource '${link || `${own}/regions/${region}/subnetworks/${network}`}' was not found`,
    );
  if (found.region !== region)
    throw invalid(
      'networkInterfaces[0].subnetwork',
      link,
      `The subnetwork is in region ${found.region}, the instance in ${region}.`,
    );
  const outside = (given.accessConfigs?.length ?? 0) > 0;
  const path = `projects/${whose}/regions/${region}/subnetworks/${found.name}`;
  caller.may('compute.subnetworks.use', path);
  if (outside) caller.may('compute.subnetworks.useExternalIp', path);
  return { subnetwork: { network: `projects/${whose}/global/networks/${found.network}`, link: path }, outside };
}

function accountOf(caller: Caller, { serviceAccounts }: InstanceBody): Facts['account'] {
  const [given] = serviceAccounts ?? [];
  if (given === undefined) return undefined;
  const email = given.email === undefined || given.email === 'default' ? caller.project.computeAccount : given.email;
  if (caller.project.account(email) === undefined)
    throw googleError('notFound', `The resource '${email}' of type 'serviceAccount' was not found.`);
  caller.may('iam.serviceAccounts.actAs', email);
  return { email, scopes: given.scopes ?? [] };
}

function reservationOf({ reservationAffinity }: InstanceBody): string | undefined {
  if (reservationAffinity?.consumeReservationType !== 'SPECIFIC_RESERVATION') return undefined;
  return lastOf(reservationAffinity.values?.[0] ?? '');
}

function diskUsage(disks: readonly PlannedDisk[]): Readonly<Record<string, number>> {
  const size = (ssd: boolean): number =>
    disks.filter(({ kind }) => /ssd|balanced/.test(kind) === ssd).reduce((sum, { gib }) => sum + gib, 0);
  return { DISKS_TOTAL_GB: size(false), SSD_TOTAL_GB: size(true) };
}

/** What a launch asks for, as far as the request itself says. */
export function askedOfInsert({ path, query, body }: Request): LaunchAsked {
  const bulk = body as BulkBody;
  const one = bulk.instanceProperties ?? (body as InstanceBody);
  const token = textAt(query, 'requestId');
  const zone = path.get('zone');
  return {
    type: lastOf(one.machineType ?? ''),
    ...(zone !== undefined && { zone }),
    market: reservationOf(one) !== undefined ? 'reserved' : isSpot(one) ? 'spot' : 'on-demand',
    count: Number(bulk.count ?? 1),
    ...(token !== undefined && { token }),
  };
}
