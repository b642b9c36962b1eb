import { sliceHostsLabel } from '../../../core/placement/slices.ts';
import { rayTags } from '../../../core/ray-tags.ts';
import type { Labels, Resources } from '../../../core/resources.ts';
import type { LateRefusal, ProviderInstance } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { lastOf } from '../client/links.ts';
import { fromLabels } from '../labels.ts';
import { hostsPerSlice } from '../machine-names.ts';

/** A slice, as the API of TPUs shows it. */
export interface TpuNode {
  /** `projects/P/locations/Z/nodes/N`. */
  readonly name: string;
  readonly state?: string;
  readonly acceleratorType?: string;
  readonly acceleratorConfig?: { readonly type?: string; readonly topology?: string };
  readonly createTime?: string;
  readonly healthDescription?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly schedulingConfig?: { readonly preemptible?: boolean; readonly reserved?: boolean; readonly spot?: boolean };
  readonly networkEndpoints?: readonly {
    readonly ipAddress?: string;
    readonly accessConfig?: { readonly externalIp?: string };
  }[];
  readonly queuedResource?: string;
}

/** One host of a slice. */
export interface HostPlace {
  readonly zone: string;
  readonly node: string;
  readonly index: number;
}

const hostId = (zone: string, node: string, index: number): string => `${zone}/${node}/${index}`;

/** Undefined for what is not an id of a host of a slice. */
export function hostPlace(id: string): HostPlace | undefined {
  const [, zone, node, index] =
    /^([a-z]+-[a-z]+\d+-[a-z][a-z0-9]*)\/([a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)\/(\d+)$/.exec(id) ?? [];
  return zone === undefined || node === undefined ? undefined : { zone, node, index: Number(index) };
}

export const zoneOfNode = (name: string): string => /\/locations\/([^/]+)\//.exec(name)?.[1] ?? '';

const states: ReadonlyMap<string, ProviderInstance['state']> = new Map([
  ['CREATING', 'pending'],
  ['STARTING', 'pending'],
  ['READY', 'running'],
  ['RESTARTING', 'running'],
  ['REIMAGING', 'running'],
  ['REPAIRING', 'running'],
  ['STOPPED', 'stopped'],
  ['PREEMPTED', 'stopped'],
  ['TERMINATED', 'stopped'],
  ['HIDDEN', 'stopped'],
]);

const stateOf = ({ state = '' }: TpuNode): ProviderInstance['state'] => states.get(state) ?? 'stopping';

/** Not many are known before they are made; then Google is right. */
export const hostsOf = ({ networkEndpoints = [], acceleratorType, acceleratorConfig }: TpuNode): number =>
  networkEndpoints.length ||
  hostsPerSlice({
    ...(acceleratorType !== undefined && { acceleratorType }),
    ...(acceleratorConfig && { acceleratorConfig: { ...acceleratorConfig } }),
  });

/** What Ray gives to hosts of a slice: its name on all of them, and the head of its type on the first. */
const resourcesOf = (node: string, type: string, index: number): Resources => ({
  [node]: 1,
  ...(index === 0 && type !== '' && { [`TPU-${type}-head`]: 1 }),
});

/** As Ray finds them in the metadata of a host, where it looks: the same values, so that nothing is there twice. */
const labelsOf = ({ node, type, topology, hosts }: SliceFacts, index: number): Labels => ({
  'ray.io/tpu-slice-name': node,
  'ray.io/tpu-worker-id': String(index),
  ...(topology !== undefined && { 'ray.io/tpu-topology': topology.toLowerCase() }),
  ...(type !== '' && { 'ray.io/tpu-pod-type': type }),
  [sliceHostsLabel]: String(hosts),
});

const environmentOf = ({ node, type }: SliceFacts, index: number): Readonly<Record<string, string>> => ({
  TPU_NAME: node,
  TPU_WORKER_ID: String(index),
  ...(type !== '' && { TPU_ACCELERATOR_TYPE: type }),
});

export interface SliceFacts {
  readonly zone: string;
  readonly node: string;
  readonly hosts: number;
  /** `v4-16`. */
  readonly type: string;
  readonly topology?: string | undefined;
}

/** The hosts of a slice, each with what they have in common. */
export function membersOf(
  facts: SliceFacts,
  common: Omit<ProviderInstance, 'id' | 'slice' | 'address'>,
  addressOf: (index: number) => ProviderInstance['address'] = () => undefined,
): readonly ProviderInstance[] {
  const { zone, node, hosts, type } = facts;
  return Array.from({ length: hosts }, (_, index) => {
    const address = addressOf(index);
    return {
      ...common,
      id: hostId(zone, node, index),
      ...(address && { address }),
      slice: {
        id: `${zone}/${node}`,
        index,
        of: hosts,
        resources: resourcesOf(node, type, index),
        labels: labelsOf(facts, index),
        environment: environmentOf(facts, index),
      },
    };
  });
}

export function membersOfNode(
  calls: GoogleCalls,
  shown: TpuNode,
  state: ProviderInstance['state'] = stateOf(shown),
  failed?: LateRefusal,
): readonly ProviderInstance[] {
  const tags = fromLabels(shown.labels, calls.typeNames);
  const { spot, preemptible, reserved } = shown.schedulingConfig ?? {};
  const zone = zoneOfNode(shown.name);
  const { acceleratorType: type = '', acceleratorConfig } = shown;
  const facts = { zone, node: lastOf(shown.name), hosts: hostsOf(shown), type, topology: acceleratorConfig?.topology };
  return membersOf(
    facts,
    {
      launchToken: tags[rayTags.launchRequest] ?? '',
      type: tags[rayTags.type] ?? '',
      kind: 'worker',
      state,
      zone,
      market: spot || preemptible ? 'spot' : reserved ? 'reserved' : 'on-demand',
      launchedAt: Date.parse(shown.createTime ?? '') || 0,
      tags,
      ...(failed && { failed }),
    },
    (index) => {
      const { ipAddress: inside, accessConfig } = shown.networkEndpoints?.[index] ?? {};
      const outside = accessConfig?.externalIp;
      if (!inside && !outside) return undefined;
      return { ...(inside && { inside }), ...(outside && { outside }) };
    },
  );
}
