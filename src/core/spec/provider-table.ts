import type { Plain, PlainMap } from './cluster.ts';
import type { Key } from './keys/key.ts';
import { type KeyNode, keysFor, keyTreeOf } from './keys/table.ts';
import type { ProviderFacts } from './provider-facts.ts';
import { isMap } from './source.ts';

/** Every provider type that a cluster file may name, and the keys that files may have with them. */
export interface ProviderTable {
  readonly byName: ReadonlyMap<string, ProviderFacts>;
  /** Those that are still there, in the order of the table. */
  readonly names: readonly string[];
  /** Every key of `cluster.yaml`, in the order of the reference page. */
  readonly keys: readonly Key[];
  readonly keyTree: KeyNode;
}

export function providerTable(facts: readonly ProviderFacts[]): ProviderTable {
  const keys = keysFor(facts);
  const isSpot = (launch: PlainMap): boolean => facts.some(({ offers }) => offers?.isSpot?.(launch) === true);
  return {
    // A file that was written for a cloud may be run elsewhere: where a provider has no words for markets, all count.
    byName: new Map(
      facts.map((each) => [each.name, { ...each, offers: { markets: ['on-demand'], isSpot, ...each.offers } }]),
    ),
    names: facts.filter(({ removed }) => removed === undefined).map(({ name }) => name),
    keys,
    keyTree: keyTreeOf(keys),
  };
}

/** What is known of the provider that a file names; undefined for a type that is in no table. */
export function factsOf({ byName }: ProviderTable, file: Plain): ProviderFacts | undefined {
  const type = isMap(file) && isMap(file.provider) ? file.provider.type : undefined;
  return typeof type === 'string' ? byName.get(type) : undefined;
}
