import type { Market, PriceRule } from './catalog.ts';
import { cloudErrors } from './errors.ts';

/** At most so many instances that fit exist at once. */
export interface CapacityRule {
  readonly type?: string;
  readonly zone?: string;
  readonly market?: Market;
  readonly limit: number;
}

/** What an account may have at once. Null: as much as it likes. */
export interface Quotas {
  readonly instances: number | null;
  readonly cpus_on_demand: number | null;
  readonly cpus_spot: number | null;
  /** Of disks that are asked for by size, all together. */
  readonly disk_gib: number | null;
}

/** How the cloud behaves while nothing goes wrong. Pairs are the least and the most, drawn evenly for each. */
export interface Settings {
  /** Time of a call, half of it each way. */
  readonly latency_ms: readonly [number, number];
  /** From launch to power on; the machine then takes its own time. */
  readonly boot_s: readonly [number, number];
  /** From the order to end to the end. */
  readonly terminate_s: readonly [number, number];
  /** Lists show what was true so long ago. */
  readonly list_lag_s: number;
  /** Tags in lists are so much older than the rest. */
  readonly tag_lag_s: number;
  /** A launch does not know a new role, or one with another profile, for so long. */
  readonly role_lag_s: number;
  /** Most instances on a page of a list. */
  readonly page_size: number;
  /** Instances that have ended are listed for so long. */
  readonly show_terminated_s: number;
  /** Calls that an account may make: a bucket of `burst`, filled with `per_s`. Null: no limit. */
  readonly rate_limit: { readonly per_s: number; readonly burst: number } | null;
  readonly quotas: Quotas;
  readonly capacity: readonly CapacityRule[];
  readonly prices: readonly PriceRule[];
}

/** Those that are to be other than they are. Quotas that it does not name are none. */
export type SettingsPatch = Partial<Omit<Settings, 'quotas'>> & { readonly quotas?: Partial<Quotas> };

export const defaultSettings: Settings = {
  latency_ms: [0, 0],
  boot_s: [0, 0],
  terminate_s: [0, 0],
  list_lag_s: 0,
  tag_lag_s: 0,
  role_lag_s: 0,
  page_size: 100,
  show_terminated_s: 60,
  rate_limit: null,
  quotas: { instances: null, cpus_on_demand: null, cpus_spot: null, disk_gib: null },
  capacity: [],
  prices: [],
};

/** Checks a value and gives it back; throws what is wrong with it. */
export type Reader<T> = (value: unknown, at: string) => T;

export const number: Reader<number> = (value, at) => {
  if (typeof value !== 'number' || !(value >= 0)) throw cloudErrors.invalid(`${at} must be a number of at least 0`);
  return value;
};
export const count: Reader<number> = (value, at) => {
  if (!Number.isInteger(number(value, at)) || value === 0)
    throw cloudErrors.invalid(`${at} must be a whole number over 0`);
  return value as number;
};
export const text: Reader<string> = (value, at) => {
  if (typeof value !== 'string' || value === '') throw cloudErrors.invalid(`${at} must be a string`);
  return value;
};
export const flag: Reader<boolean> = (value, at) => {
  if (typeof value !== 'boolean') throw cloudErrors.invalid(`${at} must be true or false`);
  return value;
};
export const oneOf =
  <T extends string>(choices: readonly T[]): Reader<T> =>
  (value, at) => {
    if (!choices.includes(value as T)) throw cloudErrors.invalid(`${at} must be one of ${choices.join(', ')}`);
    return value as T;
  };
export const listOf =
  <T>(each: Reader<T>): Reader<readonly T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) throw cloudErrors.invalid(`${at} must be a list`);
    return value.map((item, index) => each(item, `${at}[${index}]`));
  };
const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value, at) =>
    value === null ? null : read(value, at);
const pair: Reader<readonly [number, number]> = (value, at) => {
  const [least, most, ...more] = listOf(number)(value, at);
  if (least === undefined || most === undefined || more.length > 0 || most < least)
    throw cloudErrors.invalid(`${at} must be two numbers, the smaller one first`);
  return [least, most];
};

/** Reads an object of which all keys are known; those that are absent stay absent. */
export function fields<T>(readers: { readonly [Key in keyof Required<T>]: Reader<NonNullable<T[Key]> | T[Key]> }) {
  return (value: unknown, at: string): Partial<T> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw cloudErrors.invalid(`${at || 'the body'} must be an object`);
    const read: Record<string, unknown> = {};
    for (const [key, given] of Object.entries(value)) {
      const reader = Object.hasOwn(readers, key) ? (readers as Record<string, Reader<unknown>>)[key] : undefined;
      const path = at === '' ? key : `${at}.${key}`;
      if (reader === undefined)
        throw cloudErrors.invalid(`${path} is not known; known are ${Object.keys(readers).join(', ')}`);
      read[key] = reader(given, path);
    }
    return read as Partial<T>;
  };
}

export function required<T extends object>(value: Partial<T>, keys: readonly (keyof T & string)[], at: string): T {
  for (const key of keys)
    if (value[key] === undefined) throw cloudErrors.invalid(`${at === '' ? key : `${at}.${key}`} is missing`);
  return value as T;
}

export const marketReader = oneOf<Market>(['on-demand', 'spot', 'reserved']);
const about = { type: text, zone: text, market: marketReader };

const readPatch = fields<Settings>({
  latency_ms: pair,
  boot_s: pair,
  terminate_s: pair,
  list_lag_s: number,
  tag_lag_s: number,
  role_lag_s: number,
  page_size: count,
  show_terminated_s: number,
  rate_limit: orNull((value, at) =>
    required(
      fields<{ per_s: number; burst: number }>({ per_s: number, burst: count })(value, at),
      ['per_s', 'burst'],
      at,
    ),
  ),
  quotas: (value, at) => ({
    ...defaultSettings.quotas,
    ...fields<Quotas>({
      instances: orNull(number),
      cpus_on_demand: orNull(number),
      cpus_spot: orNull(number),
      disk_gib: orNull(number),
    })(value, at),
  }),
  capacity: listOf((value, at) =>
    required(fields<CapacityRule>({ ...about, limit: number })(value, at), ['limit'], at),
  ),
  prices: listOf((value, at) => required(fields<PriceRule>({ ...about, price: number })(value, at), ['price'], at)),
});

/** The settings with those that the patch names changed. */
export const patchSettings = (settings: Settings, patch: unknown): Settings => ({
  ...settings,
  ...readPatch(patch, ''),
});
