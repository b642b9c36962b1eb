import { ownValue } from '../../../base/own-value.ts';
import { rayNodeName, rayTags } from '../../../core/ray-tags.ts';
import type { NodeType, Plain, PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { CloudClient } from '../../clouds.ts';
import { providerErrors } from '../../errors.ts';
import type { LaunchRequest } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { inZone, lastOf } from '../client/links.ts';
import { clusterIdTag, clusterLabels, type GoogleLabels, toLabels } from '../labels.ts';
import { launchPrefix } from '../names.ts';
import { launchMembers, listOf, mergedMap, metadataOf } from '../node-config.ts';
import type { PreparedGoogle, PreparedType } from '../prepared.ts';
import { machineMetadata } from './metadata.ts';

/** A launch, all of it but how many. */
export interface GooglePlan {
  readonly request: LaunchRequest;
  readonly kind: 'head' | 'worker';
  readonly type: NodeType;
  readonly prepared: PreparedGoogle;
  readonly own: PreparedType;
  readonly zone: string;
  /** What the names of its instances begin with. */
  readonly prefix: string;
  /** On its instances. */
  readonly tags: GoogleLabels;
  /** As the file launches it. */
  readonly config: PlainMap;
}

/** Throws `Denied` for what was not prepared: the file has changed since, or is another. */
export function planLaunch({ client, prepared }: GoogleCalls, request: LaunchRequest): GooglePlan {
  const spec = client.spec();
  const type = spec.nodeTypes.find(({ name }) => name === request.type);
  const kind = request.tags[rayTags.kind] === 'head' ? 'head' : 'worker';
  const own = (kind === 'head' ? prepared?.head : undefined) ?? (prepared && ownValue(prepared.types, request.type));
  if (type === undefined || prepared === undefined || own === undefined)
    throw providerErrors.Denied({
      call: 'launch',
      detail: `nothing is prepared on Google Cloud for the node type '${request.type}'; run \`manta up\``,
    });
  const config = launchMembers(kind === 'head' ? spec.head.launchConfig : type.launchConfig);
  const zone = request.zone ?? own.zones[0];
  if (zone === undefined || !own.zones.includes(zone)) {
    const { market } = request;
    throw providerErrors.NoCapacity({ type: request.type, zone, market, detail: `the zone has no ${own.machine}` });
  }
  const prefix = launchPrefix(client.cluster, client.clusterId, request.token);
  const tags = tagsOf(client, request, kind, config);
  return { ...{ request, kind, type, prepared, own, zone, prefix, tags, config } };
}

function tagsOf(client: CloudClient, request: LaunchRequest, kind: 'head' | 'worker', config: PlainMap): GoogleLabels {
  const given = Object.entries(mapOf(config.labels)).map(([key, value]) => [key, String(value)]);
  return {
    [rayTags.name]: rayNodeName(client.cluster, kind),
    ...(Object.fromEntries(given) as GoogleLabels),
    ...request.tags,
    [rayTags.cluster]: client.cluster,
    [clusterIdTag]: client.clusterId,
    [rayTags.kind]: kind,
    [rayTags.type]: request.type,
    [rayTags.launchRequest]: request.token,
  };
}

/** How links to things of a zone are written: whole for one instance, by name alone for many. */
export type LinkStyle = 'link' | 'name';

/** The instances of a launch, as Compute Engine takes them, but for their names. */
export function instanceBody(
  client: CloudClient,
  plan: GooglePlan,
  style: LinkStyle,
): Readonly<Record<string, unknown>> {
  const { config, own, zone, kind, prepared, tags } = plan;
  const { sourceInstanceTemplate: template, labels: _labels, machineType, metadata: _metadata, ...rest } = config;
  const to = (collection: string, link: string): string =>
    style === 'link' ? inZone(zone, collection, link) : lastOf(link);
  const machine = isText(machineType) ? machineType : template === undefined ? own.machine : undefined;
  const boot = kind === 'worker' ? client.bootProgram?.() : undefined;
  const metadata = machineMetadata(metadataOf(config), client.login(), boot, prepared);
  const accelerators = listOf(config.guestAccelerators).map(mapOf);
  return {
    ...rest,
    ...(machine !== undefined && { machineType: to('machineTypes', machine) }),
    ...(accelerators.length > 0 && {
      guestAccelerators: accelerators.map((each) => ({
        ...each,
        acceleratorType: to('acceleratorTypes', String(each.acceleratorType ?? '')),
      })),
    }),
    ...disksOf(client, plan, to),
    ...networkOf(plan),
    ...accountOf(plan),
    scheduling: schedulingOf(plan),
    labels: toLabels(tags),
    metadata: { items: [...metadata].map(([key, value]) => ({ key, value })) },
  };
}

/** Disks carry the cluster's labels; the boot disk has the image that was found, where the file names none. */
function disksOf(
  { cluster, clusterId }: CloudClient,
  { config, own }: GooglePlan,
  to: (collection: string, link: string) => string,
): { readonly disks?: readonly unknown[] } {
  const given = listOf(config.disks).map(mapOf);
  if (given.length === 0 && (config.sourceInstanceTemplate !== undefined || own.sourceImage === undefined)) return {};
  const disks: readonly PlainMap[] = given.length > 0 ? given : [{ boot: true, autoDelete: true, type: 'PERSISTENT' }];
  return {
    disks: disks.map((disk, index) => {
      if (disk.source !== undefined) return disk;
      const first = disk.boot === true || (index === 0 && disks.every(({ boot }) => boot !== true));
      const params = mapOf(disk.initializeParams);
      const { diskType, sourceImage = first ? own.sourceImage : undefined, labels } = params;
      return {
        ...disk,
        initializeParams: {
          ...params,
          ...(isText(diskType) && { diskType: to('diskTypes', diskType) }),
          ...(sourceImage !== undefined && { sourceImage }),
          ...(first &&
            own.diskGb !== undefined &&
            params.diskSizeGb === undefined && { diskSizeGb: String(own.diskGb) }),
          ...(disk.type !== 'SCRATCH' && {
            labels: { ...mapOf(labels), ...clusterLabels(cluster, clusterId) },
          }),
        },
      };
    }),
  };
}

/** As Ray: the subnet of the file, else the region's, with an address of the internet unless the file says otherwise. */
function networkOf({ config, prepared }: GooglePlan): Readonly<Record<string, unknown>> {
  const { network, subnetwork, external, tag } = prepared.network;
  const tags = [...listOf(mapOf(config.tags).items), ...(tag === undefined ? [] : [tag])];
  const tagged = tags.length > 0 && { tags: { items: [...new Set(tags)] } };
  if (
    config.networkInterfaces !== undefined ||
    (config.sourceInstanceTemplate !== undefined && !subnetwork && !network)
  )
    return { ...tagged };
  const one = {
    ...(subnetwork !== undefined ? { subnetwork } : network !== undefined && { network }),
    ...(external && { accessConfigs: [{ name: 'External NAT', type: 'ONE_TO_ONE_NAT' }] }),
  };
  return { networkInterfaces: [one], ...tagged };
}

/** Ray gives its account to the head alone; workers have what the file says. */
function accountOf({ config, kind, prepared }: GooglePlan): Readonly<Record<string, unknown>> {
  const { serviceAccount } = prepared;
  if (kind !== 'head' || config.serviceAccounts !== undefined || serviceAccount === undefined) return {};
  return { serviceAccounts: [serviceAccount] };
}

/**
 * What is asked for counts; a preempted machine is deleted, so that no disk stays behind. One with accelerators cannot be moved,
 * and Google refuses what does not say so.
 */
function schedulingOf({ config, own, request: { market } }: GooglePlan): PlainMap {
  const { preemptible: _old, provisioningModel, instanceTerminationAction, ...rest } = mergedMap(config.scheduling);
  if (market !== 'spot') {
    const other = provisioningModel !== undefined && provisioningModel !== 'SPOT' ? { provisioningModel } : {};
    const action: Plain = instanceTerminationAction ?? null;
    const hasCards = (ownValue(own.resources, 'GPU') ?? 0) > 0;
    return {
      ...(hasCards && { onHostMaintenance: 'TERMINATE' }),
      ...rest,
      ...other,
      ...(action !== null && 'provisioningModel' in other && { instanceTerminationAction: action }),
    };
  }
  return {
    ...rest,
    provisioningModel: 'SPOT',
    instanceTerminationAction: 'DELETE',
    automaticRestart: false,
    onHostMaintenance: 'TERMINATE',
  };
}
