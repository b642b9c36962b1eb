import type { Market } from '../../cloud/catalog.ts';
import { cloudPlatform } from '../access/tokens.ts';
import type { Caller } from '../caller.ts';
import { googleError } from '../errors.ts';
import { labelProblem, lastOf, partial, regionOfZone } from '../names.ts';
import type { NodeBody } from '../shapes.ts';
import { isTpuZone, runtimeVersions, type TpuType, tpuTypes, typeOfConfig, typesIn } from '../tpu-catalog.ts';
import type { SliceOrder } from './world.ts';

const invalid = (message: string) => googleError('invalid', message);

/** What a request for a slice comes to. What is wrong with it is refused. */
export function orderOf(
  caller: Caller,
  zone: string,
  id: string,
  body: NodeBody,
  forced: {
    readonly market?: Market | undefined;
    readonly reservation?: string | undefined;
    readonly queued?: string;
  } = {},
): SliceOrder {
  if (!/^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(id))
    throw invalid(`Invalid node ID "${id}". Must be a match of regex '[a-z]([-a-z0-9]{0,61}[a-z0-9])?'`);
  if (!isTpuZone(zone)) throw googleError('notFound', `Location ${zone} is not found or access is unauthorized.`);
  const type = typeOf(zone, body);
  if (body.runtimeVersion === undefined) throw invalid('Missing required field: runtime_version');
  if (!runtimeVersions.includes(body.runtimeVersion))
    throw invalid(`Runtime version "${body.runtimeVersion}" is not found in zone "${zone}".`);
  const problem = labelProblem(body.labels ?? {});
  if (problem !== undefined) throw invalid(`Invalid labels: ${problem}`);
  const { schedulingConfig } = body;
  const own: Market = schedulingConfig?.reserved
    ? 'reserved'
    : schedulingConfig?.spot || schedulingConfig?.preemptible
      ? 'spot'
      : 'on-demand';
  const market = forced.market ?? own;
  return {
    ...{ project: caller.project, zone, id, body, type, market },
    ...(market === 'reserved' && { reservation: forced.reservation ?? reservationFor(caller, zone, type) }),
    outside: body.networkConfig?.enableExternalIps ?? false,
    subnetwork: networkOf(caller, zone, body),
    account: accountOf(caller, body),
    ...(forced.queued !== undefined && { queued: forced.queued }),
  };
}

function typeOf(zone: string, { acceleratorType, acceleratorConfig }: NodeBody): TpuType {
  if (acceleratorType !== undefined && acceleratorConfig !== undefined)
    throw invalid('Only one of accelerator_type and accelerator_config may be set.');
  const found =
    acceleratorConfig === undefined
      ? tpuTypes.get(acceleratorType ?? '')
      : typeOfConfig(typesIn(zone), acceleratorConfig);
  const words = acceleratorConfig ? JSON.stringify(acceleratorConfig) : `"${acceleratorType ?? ''}"`;
  if (found === undefined || !typesIn(zone).includes(found))
    throw invalid(`Accelerator type ${words} is not found in zone "${zone}".`);
  return found;
}

const reservationFor = ({ world, projectId }: Caller, zone: string, type: TpuType): string | undefined =>
  world.cloud.has.reservations.of(projectId).find((each) => each.zone === zone && each.type === type.name)?.id;

function networkOf(caller: Caller, zone: string, { networkConfig }: NodeBody): SliceOrder['subnetwork'] {
  const region = regionOfZone(zone);
  const { project } = caller;
  const link = partial(networkConfig?.subnetwork ?? '');
  const network = lastOf(networkConfig?.network ?? 'default');
  const found =
    link === ''
      ? [...project.subnetworks.values()].find((each) => each.region === region && each.network === network)
      : project.subnetworks.get(`${region}/${lastOf(link)}`);
  if (found === undefined) throw invalid(`Network "${link || network}" is not found in region "${region}".`);
  return {
    network: `projects/${project.id}/global/networks/${found.network}`,
    link: `projects/${project.id}/regions/${region}/subnetworks/${found.name}`,
  };
}

/** Without one it is the account of the project's machines, which may do what its roles say. */
function accountOf(caller: Caller, { serviceAccount }: NodeBody): SliceOrder['account'] {
  const email = serviceAccount?.email || caller.project.computeAccount;
  if (caller.project.account(email) === undefined) throw invalid(`Service account "${email}" does not exist.`);
  caller.may('iam.serviceAccounts.actAs', email);
  return { email, scopes: serviceAccount?.scope?.length ? serviceAccount.scope : [cloudPlatform] };
}
