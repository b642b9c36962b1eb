import { cloudErrors } from './errors.ts';

/** `reserved`: out of a reservation that the account has. */
export type Market = 'on-demand' | 'spot' | 'reserved';

export interface MachineType {
  readonly name: string;
  readonly cpus: number;
  readonly memory_gib: number;
  readonly gpus?: number;
  /** Per hour, in dollars. */
  readonly price: number;
  readonly spot_price: number;
}

/** What the cloud sells, and where. */
export interface Catalog {
  /** Zones by region. */
  readonly regions: Readonly<Record<string, readonly string[]>>;
  readonly machine_types: readonly MachineType[];
}

/** A price that differs from the machine type's own. The last that fits counts. */
export interface PriceRule {
  readonly type?: string;
  readonly zone?: string;
  readonly market?: Market;
  readonly price: number;
}

export interface Price {
  readonly type: string;
  readonly zone: string;
  readonly market: Market;
  readonly price: number;
}

export const labCatalog: Catalog = {
  regions: { 'lab-1': ['lab-1a', 'lab-1b', 'lab-1c'], 'lab-2': ['lab-2a'] },
  machine_types: [
    { name: 'small', cpus: 2, memory_gib: 4, price: 0.1, spot_price: 0.03 },
    { name: 'medium', cpus: 4, memory_gib: 8, price: 0.2, spot_price: 0.06 },
    { name: 'large', cpus: 8, memory_gib: 16, price: 0.4, spot_price: 0.12 },
    { name: 'gpu', cpus: 8, memory_gib: 32, gpus: 1, price: 2.5, spot_price: 0.8 },
  ],
};

export const zonesOf = ({ regions }: Catalog): readonly string[] => Object.values(regions).flat();

/** Undefined for a zone that there is not. */
export const regionOf = ({ regions }: Catalog, zone: string): string | undefined =>
  Object.entries(regions).find(([, zones]) => zones.includes(zone))?.[0];

/** Catalogs are large, and every look at an instance asks for its type. */
const byName = new WeakMap<Catalog, ReadonlyMap<string, MachineType>>();

function typesOf(catalog: Catalog): ReadonlyMap<string, MachineType> {
  const known = byName.get(catalog);
  // A dialect may put more types on sale.
  if (known?.size === catalog.machine_types.length) return known;
  const fresh = new Map(catalog.machine_types.map((type) => [type.name, type]));
  byName.set(catalog, fresh);
  return fresh;
}

export function machineType(catalog: Catalog, name: string): MachineType {
  const found = typesOf(catalog).get(name);
  if (found === undefined) throw cloudErrors.invalid(`there is no machine type '${name}'`);
  return found;
}

/** Which prices are asked for. @default all */
export interface PriceQuestion {
  readonly types?: readonly string[];
  readonly zones?: readonly string[];
}

export function pricesOf(
  catalog: Catalog,
  rules: readonly PriceRule[],
  { types, zones = zonesOf(catalog) }: PriceQuestion = {},
): readonly Price[] {
  const asked = types?.flatMap((name) => typesOf(catalog).get(name) ?? []) ?? catalog.machine_types;
  return asked.flatMap((type) =>
    zones.flatMap((zone) =>
      (['on-demand', 'spot'] as const).map((market): Price => {
        const own = market === 'spot' ? type.spot_price : type.price;
        const rule = rules.findLast((each) => concerns(each, { type: type.name, zone, market }));
        return { type: type.name, zone, market, price: rule?.price ?? own };
      }),
    ),
  );
}

/** Whether a rule, which names what it is about, is about this. */
export function concerns(
  rule: { readonly type?: string; readonly zone?: string; readonly market?: string },
  about: {
    readonly type?: string | undefined;
    readonly zone?: string | undefined;
    readonly market?: string | undefined;
  },
): boolean {
  return (
    (rule.type === undefined || rule.type === about.type) &&
    (rule.zone === undefined || rule.zone === about.zone) &&
    (rule.market === undefined || rule.market === about.market)
  );
}
