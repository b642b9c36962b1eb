import type { ClusterSpec } from '../core/spec/cluster.ts';
import { type ProviderTable, providerTable } from '../core/spec/provider-table.ts';
import type { ProviderDescriptor } from './descriptor.ts';
import * as descriptors from './descriptors.ts';
import { notRun } from './not-run/table.ts';

const kinds: readonly ProviderDescriptor['kind'][] = ['this-machine', 'own-hosts', 'cloud'];

/** The providers that Manta runs clusters on, by kind and name. */
export const runnable: readonly ProviderDescriptor[] = Object.values(descriptors).sort(
  (one: ProviderDescriptor, other: ProviderDescriptor) =>
    kinds.indexOf(one.kind) - kinds.indexOf(other.kind) || (one.name < other.name ? -1 : 1),
);

/** Every provider type that a cluster file may name. */
export const providers: ProviderTable = providerTable([...runnable, ...notRun]);

/** Undefined for a type that Manta does not run. */
export const descriptorOf = (type: string): ProviderDescriptor | undefined =>
  runnable.find(({ name }) => name === type);

type OfKind<Kind> = Extract<ProviderDescriptor, { readonly kind: Kind }>;

/** The provider of a cluster that was found to be of this kind. */
export function descriptorFor<Kind extends ProviderDescriptor['kind']>(
  { provider: { type } }: ClusterSpec,
  kind: Kind,
): OfKind<Kind> {
  const isMeant = (each: ProviderDescriptor): each is OfKind<Kind> => each.name === type && each.kind === kind;
  const found = runnable.find(isMeant);
  if (found === undefined) throw new Error(`the provider '${type}' is not of the kind '${kind}'`);
  return found;
}

/** The providers that messages offer: `'process' and 'local'`. */
export const offeredWords: string = new Intl.ListFormat('en').format(
  runnable.filter(({ internal }) => internal !== true).map(({ name }) => `'${name}'`),
);
