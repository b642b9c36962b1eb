import type { Duration } from '../../base/time/clock.ts';
import type { Market } from '../../core/instance.ts';
import type { LabelSelector, Resources } from '../../core/resources.ts';
import type { ScalingSpec, ScalingType } from '../../core/scaling.ts';
import type {
  Arrival,
  CapacityRule,
  CloudBehaviour,
  PreemptionRule,
  Scenario,
  Strategy,
  WorkItem,
} from './scenario.ts';
import { type Field, FieldReader, type ScenarioProblem } from './scenario-fields.ts';

const strategies: readonly Strategy[] = ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'];
const markets: readonly Market[] = ['on-demand', 'spot', 'reserved'];

export type ScenarioResult = { readonly scenario: Scenario } | { readonly problems: readonly ScenarioProblem[] };

/**
 * Checks a scenario as written (see scenario-file.ts) and turns it into numbers. `spec` stands in for its `cluster`,
 * `keysOf` knows the order of the file it was read from.
 */
export function readScenario(value: unknown, spec?: ScalingSpec, keysOf?: FieldReader['keysOf']): ScenarioResult {
  const reader = new FieldReader(keysOf);
  const root = reader.root(value);
  root.onlyKeys(['name', 'summary', 'cluster', 'cloud', 'work']);
  const name = root.optional('name')?.text() ?? 'workload';
  const summary = root.optional('summary')?.text() ?? '';
  const cluster = root.optional('cluster');
  const own = cluster === undefined ? undefined : readCluster(cluster);
  const chosen = spec ?? own;
  if (chosen === undefined) root.problem('there is no `cluster`, and no cluster.yaml was given');
  const cloud = readCloud(root.optional('cloud'), chosen);
  const work = root.required('work')?.items().map(readWork) ?? [];
  if (reader.problems.length > 0 || chosen === undefined) return { problems: reader.problems };
  return { scenario: { name, summary, spec: chosen, cloud, work: work.filter((item) => item !== undefined) } };
}

function readCluster(field: Field): ScalingSpec {
  field.onlyKeys(['maxWorkers', 'idleTimeout', 'idle', 'upscalingSpeed', 'head', 'types']);
  const maxWorkers = field.optional('maxWorkers')?.whole();
  const types = field.required('types')?.entries() ?? [];
  const headType = field.optional('head')?.text() ?? types[0]?.[0] ?? 'head';
  if (types.length > 0 && !types.some(([name]) => name === headType)) {
    field.problem(`the head's type '${headType}' is not one of the types`);
  }
  return {
    ...(maxWorkers === undefined ? {} : { maxWorkers }),
    idleTimeout: field.optional('idleTimeout')?.duration() ?? 300_000,
    idle: field.optional('idle')?.oneOf(['timeout', 'economic'] as const) ?? 'timeout',
    upscalingSpeed: field.optional('upscalingSpeed')?.amount() ?? 1,
    nodeTypes: types.map(([name, type]) => readType(name, type, name === headType, maxWorkers)),
    headType,
    replaceOutdated: false,
  };
}

function readType(name: string, field: Field, head: boolean, maxWorkers: number | undefined): ScalingType {
  field.onlyKeys(['resources', 'labels', 'min', 'max', 'idleTimeout', 'priority', 'market', 'zones', 'price']);
  const idleTimeout = field.optional('idleTimeout')?.duration();
  const market = field.optional('market')?.oneOf(markets) ?? 'on-demand';
  const pricePerHour = field.optional('price')?.amount();
  const zones = field
    .optional('zones')
    ?.items()
    .map((zone) => zone.text()) ?? [undefined];
  return {
    name,
    resources: readAmounts(field.required('resources')),
    labels: Object.fromEntries(
      field
        .optional('labels')
        ?.entries()
        .map(([key, value]) => [key, value.text()]) ?? [],
    ),
    minWorkers: field.optional('min')?.whole() ?? 0,
    maxWorkers: field.optional('max')?.whole() ?? (head ? 0 : (maxWorkers ?? 100)),
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    priority: field.optional('priority')?.whole() ?? 0,
    launchHash: '',
    hostsPerSlice: 1,
    offers: zones.map((zone) => ({
      ...(zone === undefined ? {} : { zone }),
      market,
      ...(pricePerHour === undefined ? {} : { pricePerHour }),
    })),
  };
}

function readCloud(field: Field | undefined, spec: ScalingSpec | undefined): CloudBehaviour {
  field?.onlyKeys(['boot', 'setup', 'latency', 'capacity', 'preemption']);
  return {
    boot: field?.optional('boot')?.spread() ?? { kind: 'log-normal', median: 45_000, p95: 75_000 },
    setup: field?.optional('setup')?.spread() ?? { kind: 'log-normal', median: 40_000, p95: 80_000 },
    latency: field?.optional('latency')?.spread() ?? { kind: 'uniform', min: 500, max: 3_000 },
    capacity:
      field
        ?.optional('capacity')
        ?.items()
        .map((item) => readCapacity(item, spec)) ?? [],
    preemption: field?.optional('preemption')?.items().map(readPreemption) ?? [],
  };
}

function readCapacity(field: Field, spec: ScalingSpec | undefined): CapacityRule {
  field.onlyKeys(['type', 'zone', 'market', 'limit', 'from', 'until']);
  const type = field.optional('type');
  const known = spec?.nodeTypes.map((each) => each.name);
  return {
    ...(type === undefined ? {} : { type: known === undefined ? type.text() : type.oneOf(known) }),
    ...optionalText(field, 'zone'),
    ...optionalMarket(field),
    limit: field.required('limit')?.whole() ?? 0,
    ...readSpan(field),
  };
}

function readPreemption(field: Field): PreemptionRule {
  field.onlyKeys(['market', 'zone', 'every', 'from', 'until', 'notice']);
  const notice = field.optional('notice')?.duration();
  return {
    ...optionalMarket(field),
    ...optionalText(field, 'zone'),
    every: Math.max(1, field.required('every')?.duration() ?? 1),
    ...readSpan(field),
    ...(notice === undefined ? {} : { notice }),
  };
}

const readSpan = (field: Field): { from: Duration; until: Duration } => ({
  from: field.optional('from')?.duration() ?? 0,
  until: field.optional('until')?.duration() ?? Number.POSITIVE_INFINITY,
});

function optionalText(field: Field, key: 'zone'): { zone?: string } {
  const value = field.optional(key)?.text();
  return value === undefined ? {} : { [key]: value };
}

function optionalMarket(field: Field): { market?: Market } {
  const market = field.optional('market')?.oneOf(markets);
  return market === undefined ? {} : { market };
}

const arrivalKeys = ['at', 'over', 'shape', 'repeat'];

function readWork(field: Field): WorkItem | undefined {
  const kind = (['tasks', 'actors', 'gangs', 'standing'] as const).find((key) => field.has(key));
  switch (kind) {
    case 'tasks':
    case 'actors':
      field.onlyKeys([kind, 'needs', 'labels', 'duration', ...arrivalKeys]);
      return {
        kind,
        count: field.required(kind)?.whole() ?? 0,
        resources: readAmounts(field.required('needs')),
        selectors: readSelectors(field.optional('labels')),
        duration: field.required('duration')?.spread() ?? { kind: 'fixed', value: 0 },
        arrival: readArrival(field),
      };
    case 'gangs':
      field.onlyKeys([kind, 'bundles', 'strategy', 'duration', ...arrivalKeys]);
      return {
        kind,
        count: field.required(kind)?.whole() ?? 0,
        bundles: field.required('bundles')?.items().map(readAmounts) ?? [],
        strategy: field.optional('strategy')?.oneOf(strategies) ?? 'PACK',
        duration: field.required('duration')?.spread() ?? { kind: 'fixed', value: 0 },
        arrival: readArrival(field),
      };
    case 'standing':
      field.onlyKeys([kind, 'at', 'until']);
      return {
        kind,
        requests:
          field
            .required(kind)
            ?.items()
            .map((item) => {
              item.onlyKeys(['needs', 'count']);
              return { resources: readAmounts(item.required('needs')), count: item.required('count')?.whole() ?? 0 };
            }) ?? [],
        at: field.optional('at')?.duration() ?? 0,
        until: field.required('until')?.duration() ?? 0,
      };
    default:
      field.problem('expected `tasks`, `actors`, `gangs` or `standing`');
      return undefined;
  }
}

function readArrival(field: Field): Arrival {
  const repeat = field.optional('repeat');
  repeat?.onlyKeys(['every', 'times']);
  return {
    at: field.optional('at')?.duration() ?? 0,
    over: field.optional('over')?.duration() ?? 0,
    shape: field.optional('shape')?.oneOf(['even', 'ramp', 'wave'] as const) ?? 'even',
    repeatEvery: repeat?.required('every')?.duration() ?? 0,
    times: repeat?.required('times')?.whole() ?? 1,
  };
}

function readAmounts(field: Field | undefined): Resources {
  return Object.fromEntries(field?.entries().map(([name, amount]) => [name, amount.amount()]) ?? []);
}

function readSelectors(field: Field | undefined): readonly LabelSelector[] {
  if (field === undefined) return [];
  return [
    field.entries().map(([label, values]) => ({
      label,
      operator: 'in' as const,
      values: values.items().map((value) => value.text()),
    })),
  ];
}
