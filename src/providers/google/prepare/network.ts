import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import { allOf } from '../../all-of.ts';
import { lastOf } from '../client/links.ts';
import { preparationErrors } from '../errors.ts';
import { type LaunchedType, mapsOf, partialUrl, projectOf } from './file-types.ts';
import { isAbsent, isDenied } from './refused.ts';
import type { GoogleScene, Looked } from './scene.ts';

/** A subnet that instances are in. */
export interface SubnetFound {
  /** From `projects/` on. */
  readonly path: string;
  readonly network: string;
  /** Undefined where it cannot be read. */
  readonly range: string | undefined;
}

export interface NetworkLook extends Looked {
  /** For the types that name none. */
  readonly chosen: SubnetFound | undefined;
  /** All that the cluster's instances are in, each once. */
  readonly subnets: readonly SubnetFound[];
}

interface SubnetAnswer {
  readonly selfLink?: string;
  readonly network?: string;
  readonly ipCidrRange?: string;
  readonly purpose?: string;
}

/** Whether instances have addresses of the internet, as Ray gives them. */
export const isExternal = ({ spec }: GoogleScene): boolean => spec.provider.config.use_internal_ips !== true;

/** The subnet or network that a type names itself, of a machine or of a slice. */
function namedIn({ config }: LaunchedType): { readonly subnet?: string; readonly network?: string } | undefined {
  const own: PlainMap | undefined = mapsOf(config.networkInterfaces)[0] ?? mapsOf(config.networkConfig)[0];
  if (own === undefined) return undefined;
  const { subnetwork, network } = mapOf(own);
  if (!isText(subnetwork) && !isText(network)) return undefined;
  return { ...(isText(subnetwork) && { subnet: subnetwork }), ...(isText(network) && { network }) };
}

/** The subnets of the file, else one of the region: that of the default network, or the first. */
export async function lookAtNetwork(scene: GoogleScene, types: readonly LaunchedType[]): Promise<NetworkLook> {
  const own = types.map((type) => ({ type, named: namedIn(type) }));
  const [given, all] = await allOf([
    allOf(
      own.flatMap(({ type, named }) => (named?.subnet === undefined ? [] : [askSubnet(scene, type, named.subnet)])),
    ),
    own.some(({ named }) => named?.subnet === undefined) ? subnetsOf(scene) : [],
  ]);
  const inNetworks = own.flatMap(({ named }) => {
    if (named?.network === undefined || named.subnet !== undefined) return [];
    return all.find(({ network }) => lastOf(network) === lastOf(named.network!)) ?? [];
  });
  const chosen = own.some(({ named }) => named === undefined) ? choose(scene, all) : undefined;
  const subnets = [...given, ...inNetworks, ...(chosen === undefined ? [] : [chosen])];
  const each = [...new Map(subnets.map((subnet) => [subnet.path, subnet])).values()];
  return {
    chosen,
    subnets: each,
    steps: each.map((subnet) => ({
      what: 'subnet',
      action: 'found',
      id: lastOf(subnet.path),
      note: `${subnet === chosen ? 'of' : 'of the file, in'} network ${lastOf(subnet.network)}${shared(scene, subnet) ? ` of the shared VPC of ${projectOf(subnet.path)}` : ''}`,
    })),
    warnings: [
      ...(chosen !== undefined && lastOf(chosen.network) !== 'default'
        ? [
            `project ${scene.project} has no default network: instances go to subnet ${lastOf(chosen.path)} of network ${lastOf(chosen.network)}`,
          ]
        : []),
      ...(isExternal(scene)
        ? []
        : ['instances have no external addresses (use_internal_ips): they reach the internet only through Cloud NAT']),
    ],
  };
}

export const shared = ({ project }: GoogleScene, { path }: SubnetFound): boolean => projectOf(path) !== project;

const subnetOf = (
  { project }: GoogleScene,
  { selfLink = '', network = '', ipCidrRange: range }: SubnetAnswer,
): SubnetFound => ({
  path: partialUrl(selfLink, project),
  network: partialUrl(network, project),
  range,
});

async function subnetsOf(scene: GoogleScene): Promise<readonly SubnetFound[]> {
  const found = await scene.askAll<SubnetAnswer>('items', {
    call: 'compute.subnetworks.list',
    url: scene.compute(`regions/${scene.region}/subnetworks`),
  });
  // Others are for load balancers and the like.
  const usual = found.filter(({ purpose = 'PRIVATE' }) => purpose === 'PRIVATE');
  return usual.map((each) => subnetOf(scene, each));
}

function choose({ project, region }: GoogleScene, all: readonly SubnetFound[]): SubnetFound {
  const chosen = all.find(({ network }) => lastOf(network) === 'default') ?? all[0];
  if (chosen === undefined) throw preparationErrors.NoNetwork({ project, region });
  return chosen;
}

async function askSubnet(scene: GoogleScene, { at }: LaunchedType, named: string): Promise<SubnetFound> {
  const { project, region } = scene;
  const path = partialUrl(named.includes('/') ? named : `regions/${region}/subnetworks/${named}`, project);
  const rest = path.split('/').slice(2).join('/');
  try {
    const answer = await scene.ask<SubnetAnswer>({
      call: 'compute.subnetworks.get',
      url: scene.compute(rest, projectOf(path)),
    });
    return subnetOf(scene, answer);
  } catch (error) {
    // Of a shared VPC one may use what one may not read.
    if (isDenied(error) && projectOf(path) !== project) return { path, network: '', range: undefined };
    if (!isAbsent(error)) throw error;
    throw preparationErrors.NoSubnet({ at, subnet: named, region }, error);
  }
}
