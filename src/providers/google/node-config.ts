import type { Market } from '../../core/instance.ts';
import type { Plain, PlainMap } from '../../core/spec/cluster.ts';
import { isText, mapOf } from '../../core/spec/plain.ts';
import { isMap } from '../../core/spec/source.ts';
import { type MemberProblem, MemberTable } from '../members.ts';
import { googleMembers } from './gen/members.ts';

/** `node_config` of a machine, in the forms that Ray's files have and Compute Engine does not. */

/** A slice of TPUs: it names accelerators and no machine. */
export const isTpu = (config: PlainMap): boolean =>
  config.machineType === undefined &&
  [config.acceleratorType, config.acceleratorConfig, config.schedulingConfig].some((each) => each !== undefined);

/** One mapping, where most files write a list of them: Google takes both. */
export const mergedMap = (value: Plain | undefined): PlainMap =>
  Array.isArray(value) ? Object.assign({}, ...(value as readonly Plain[]).map(mapOf)) : mapOf(value);

/** As Google reads it: files also have it as text. */
const isTrue = (value: Plain | undefined): boolean => value === true || value === 'true' || value === 'True';

/** The market that a file asks for by `scheduling` of machines, or `schedulingConfig` of TPUs. */
export function marketOnGoogle(launch: PlainMap): Market {
  const [machine, slice] = [mergedMap(launch.scheduling), mergedMap(launch.schedulingConfig)];
  if (machine.provisioningModel === 'SPOT' || [machine.preemptible, slice.preemptible, slice.spot].some(isTrue))
    return 'spot';
  return isTrue(slice.reserved) ? 'reserved' : 'on-demand';
}

export const isSpotOnGoogle = (launch: PlainMap): boolean => marketOnGoogle(launch) === 'spot';

export const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];

/** `metadata.items` by key. */
export function metadataOf(config: PlainMap): ReadonlyMap<string, string> {
  const items = listOf(mapOf(config.metadata).items).filter(isMap);
  return new Map(items.flatMap(({ key, value }) => (isText(key) ? [[key, String(value ?? '')] as const] : [])));
}

/** What a launch itself sets. */
const ownMembers: ReadonlySet<string> = new Set(['name', 'fingerprint', 'labelFingerprint', 'health']);
const table = new MemberTable(googleMembers, {
  extra: { Instance: ['sourceInstanceTemplate:string'] },
  // Most files have `scheduling` as a list of mappings, and those of 2019 one mapping in `guestAccelerators`.
  mendsLists: true,
});
const structureOf = (config: PlainMap): string => (isTpu(config) ? 'Node' : 'Instance');

/** What Google does not take of a `node_config`. Paths start under it. */
export function checkNodeConfig(config: PlainMap): readonly MemberProblem[] {
  const problems: MemberProblem[] = [];
  table.read(config, structureOf(config), [], problems);
  return problems;
}

/** A `node_config` as Google takes it, with every scalar of the type that it wants, and without what a launch sets. */
export function launchMembers(config: PlainMap): PlainMap {
  const all = table.read(config, structureOf(config), [], []) as PlainMap;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !ownMembers.has(name)));
}

/** Whether it has a member that only the insert of one instance takes. */
export function needsInsert(config: PlainMap): boolean {
  const taken = table.membersOf('InstanceProperties');
  return Object.keys(launchMembers(config)).some((name) => name !== 'sourceInstanceTemplate' && !taken?.has(name));
}
