import type { ClusterRecord, ClusterRole } from './cluster-record.ts';

/** A record as it was read, or why it is not one. */
export type CheckedRecord = { readonly record: ClusterRecord } | { readonly problem: string };

/**
 * The record that a value from a disk stands for. One that was written before records had a role is given its role here, and
 * nowhere else. Fields that this version does not know are kept: a later one may have written them.
 */
export function checkRecord(value: unknown): CheckedRecord {
  if (!isObject(value)) return { problem: 'it is not an object' };
  const unknown = optional(oneOf(...Object.keys(fieldsOf)))(value['role'], 'role');
  if (unknown !== undefined) return { problem: unknown };
  const role = roleOf(value);
  // Mantas that knew no roles left another engine beside `remote` where an `up` was cut short.
  const record = { ...value, role, ...(role !== 'this-machine' && { engine: 'ray' }) };
  const problem = shape(fieldsOf[role])(record, '');
  return problem === undefined ? { record: record as unknown as ClusterRecord } : { problem };
}

/**
 * A role that is written there counts, except that an older Manta keeps `this-machine` when it makes the cluster one of other
 * machines.
 */
function roleOf({ role, remote, ray }: Fields): ClusterRole {
  if (role === 'head' || role === 'laptop') return role;
  if (ray !== undefined) return 'head';
  return remote === undefined ? 'this-machine' : 'laptop';
}

type Fields = { readonly [name: string]: unknown };

/** What is wrong with a value; undefined where nothing is. */
type Check = (value: unknown, name: string) => string | undefined;
type Shape = { readonly [name: string]: Check };

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const a =
  (type: 'string' | 'number' | 'boolean'): Check =>
  (value, name) => {
    if (value === undefined) return `'${name}' is missing`;
    return typeof value === type ? undefined : `'${name}' is not a ${type}`;
  };

const oneOf =
  (...values: readonly string[]): Check =>
  (value, name) => {
    if (value === undefined) return `'${name}' is missing`;
    return values.includes(value as string) ? undefined : `'${name}' is not one of ${values.join(', ')}`;
  };

const optional =
  (check: Check): Check =>
  (value, name) =>
    value === undefined ? undefined : check(value, name);

const shape =
  (fields: Shape): Check =>
  (value, name) => {
    if (value === undefined) return `'${name}' is missing`;
    if (!isObject(value)) return `'${name}' is not an object`;
    return first(Object.entries(fields), ([key, check]) => check(value[key], name === '' ? key : `${name}.${key}`));
  };

const listOf =
  (each: Check): Check =>
  (value, name) =>
    Array.isArray(value)
      ? first(value as readonly unknown[], (entry, at) => each(entry, `${name}[${at}]`))
      : `'${name}' is not a list`;

const textsByName: Check = (value, name) =>
  isObject(value)
    ? first(Object.entries(value), ([key, text]) => a('string')(text, `${name}.${key}`))
    : `'${name}' is not an object`;

function first<Each>(values: readonly Each[], problemOf: (each: Each, at: number) => string | undefined) {
  for (const [at, each] of values.entries()) {
    const problem = problemOf(each, at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const shared: Shape = {
  format: a('number'),
  name: a('string'),
  machine: a('string'),
  createdAt: a('number'),
  config: optional(shape({ path: a('string'), text: a('string'), env: textsByName })),
  overrides: optional(shape({ minWorkers: optional(a('number')), maxWorkers: optional(a('number')) })),
  until: optional(a('number')),
  turningOff: optional(shape({ since: a('number'), why: a('string') })),
  ended: optional(
    shape({
      at: a('number'),
      why: a('string'),
      left: listOf(shape({ host: a('string'), why: a('string') })),
      headGone: optional(a('boolean')),
      lost: optional(shape({ instance: a('string'), workers: optional(a('number')) })),
    }),
  ),
  endingSince: optional(a('number')),
};

const fieldsOf: { readonly [Role in ClusterRole]: Shape } = {
  'this-machine': {
    ...shared,
    engine: oneOf('embedded', 'ray'),
    port: optional(a('number')),
    python: optional(shape({ path: a('string'), version: a('string') })),
    kube: optional(shape({ namespace: a('string'), name: a('string') })),
  },
  laptop: {
    ...shared,
    remote: shape({
      address: optional(a('string')),
      inside: optional(a('string')),
      zone: optional(a('string')),
      instance: optional(a('string')),
      clusterId: optional(a('string')),
      launchToken: optional(a('string')),
      askedAt: optional(a('number')),
      asked: optional(shape({ zone: optional(a('string')), market: oneOf('on-demand', 'spot', 'reserved') })),
      prepared: optional(shape({})),
    }),
  },
  head: {
    ...shared,
    ray: shape({
      id: a('string'),
      instance: a('string'),
      address: a('string'),
      gcsPort: a('number'),
      dashboardPort: a('number'),
      loginShells: a('boolean'),
      usageStats: a('boolean'),
      leaveWorkers: optional(a('boolean')),
      mounts: listOf(shape({ remote: a('string'), local: a('string'), directory: a('boolean') })),
      versions: optional(shape({ ray: a('string'), python: a('string') })),
      identity: optional(oneOf('machine', 'file')),
      prepared: optional(shape({})),
    }),
  },
};
