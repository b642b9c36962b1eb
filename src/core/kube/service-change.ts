import type { Difference } from '../differences.ts';
import { type ServeChange, serveChangeOf } from '../serve/change.ts';
import { readServeConfig } from '../serve/config.ts';
import { dig, type Json, listAt, textAt } from './object.ts';

export interface Effect {
  readonly effect:
    | 'created'
    | 'unchanged'
    | 'in place'
    | 'new pods'
    | 'new cluster'
    | 'nothing will happen'
    | 'changed';
  /** What the effect means here, in sentences. */
  readonly notes: readonly string[];
}

const config = 'spec.rayClusterConfig';

/** Fields that KubeRay leaves out when it compares: they neither reach the running cluster nor ask for another one. */
const muted =
  /^spec\.rayClusterConfig\.(?:workerGroupSpecs\[\d+\]\.(?:(?:replicas|minReplicas|maxReplicas)$|scaleStrategy\b)|.*\.template\.spec\.(?:tolerations|schedulingGates)\b|upgradeStrategy\b)/;

/**
 * What KubeRay does with a changed RayService: a new Serve config goes to the running cluster, a new cluster config to a
 * second cluster that takes over, and groups behind the last one are added to the running cluster.
 */
export function serviceEffect(differences: readonly Difference[], before: Json, after: Json): Effect {
  const ofCluster = differences.filter(
    ({ path }) => path.startsWith(`${config}.`) && !path.startsWith(`${config}.suspend`),
  );
  const groups = listAt(before, 'spec', 'rayClusterConfig', 'workerGroupSpecs').length;
  const isAdded = ({ path, from }: Difference): boolean => {
    const [, at] = /^spec\.rayClusterConfig\.workerGroupSpecs\[(\d+)\]$/.exec(path) ?? [];
    return at !== undefined && Number(at) >= groups && from === undefined;
  };
  const quiet = ofCluster.filter(({ path }) => muted.test(path));
  const added = ofCluster.filter(isAdded);
  const others = ofCluster.filter((each) => !quiet.includes(each) && !added.includes(each));
  const type = textAt(after, 'spec', 'upgradeStrategy', 'type') ?? 'NewCluster';
  const serve = serveNotes(before, after);
  if (others.length > 0 && type !== 'None')
    return { effect: 'new cluster', notes: [...newClusterNotes(type, after, others), ...serve] };
  const ignored =
    others.length > 0
      ? ['upgradeStrategy.type is None: changes of rayClusterConfig do not reach the running cluster']
      : [];
  const unheard =
    quiet.length > 0 && added.length === 0
      ? ['replicas, limits and tolerations reach a new cluster only: the running one stays as it is']
      : [];
  const happens = differences.length > ofCluster.length || added.length > 0;
  return { effect: happens ? 'in place' : 'nothing will happen', notes: [...ignored, ...unheard, ...serve] };
}

function newClusterNotes(type: string, after: Json, others: readonly Difference[]): readonly string[] {
  const because = `rayClusterConfig changes (${[...new Set(others.map(({ path }) => path.slice(config.length + 1)))].slice(0, 3).join(', ')})`;
  if (type !== 'NewClusterWithIncrementalUpgrade')
    return [`${because}: a second cluster comes up, takes over when it serves, and the first one ends a minute later`];
  const options = dig(after, 'spec', 'upgradeStrategy', 'clusterUpgradeOptions');
  const [step, interval, surge] = ['stepSizePercent', 'intervalSeconds', 'maxSurgePercent'].map((key) =>
    dig(options, key),
  );
  return [
    `${because}: incremental upgrade (alpha): a second cluster grows by ${String(surge ?? 100)} % of capacity at a time, and traffic moves over by ${String(step ?? '?')} % every ${String(interval ?? '?')} s through the gateway '${textAt(after, 'metadata', 'name') ?? ''}-gateway'; it needs the Gateway API and a controller for its class`,
  ];
}

const words = {
  added: 'is added',
  deleted: 'is deleted',
  rebuilt: 'is loaded again',
  'in place': 'changes in place',
} as const;

function serveChange(old: string, fresh: string): ServeChange {
  const [from = {}, to = {}] = [old, fresh].map(
    (text) => readServeConfig(text, 'operator', { file: '' }).config?.value ?? {},
  );
  return serveChangeOf(from, to);
}

function serveNotes(before: Json, after: Json): readonly string[] {
  const [old = '', fresh = ''] = [before, after].map((each) => textAt(each, 'spec', 'serveConfigV2') ?? '');
  if (old === fresh) return [];
  const { apps, ignored } = serveChange(old, fresh);
  return [
    ...apps.flatMap(({ name, effect }) =>
      effect === 'unchanged' ? [] : [`the application '${name}' ${words[effect]}`],
    ),
    ...(ignored.length === 0
      ? []
      : [`a running Serve ignores changes of ${ignored.map(({ path }) => path).join(', ')}: they need a new cluster`]),
  ];
}

/** The text of a Serve config may hold secrets: it is shown by the values that differ, and those blank that may be some. */
export function serveDifferences({ path, from, to }: Difference): readonly Difference[] {
  const { apps, ignored } = serveChange(String(from ?? ''), String(to ?? ''));
  const values = apps.flatMap(({ name, differences }) =>
    differences.map((each) => ({ ...each, path: `${path} ${name}${each.path}` })),
  );
  const whole = apps
    .filter(({ effect }) => effect === 'added' || effect === 'deleted')
    .map(
      ({ name, effect }): Difference => ({
        path: `${path} ${name}`,
        from: effect === 'added' ? undefined : '(application)',
        to: effect === 'added' ? '(application)' : undefined,
      }),
    );
  const all = [...whole, ...values, ...ignored.map((each) => ({ ...each, path: `${path} ${each.path}` }))];
  return all.length > 0 ? all : [{ path, from: '(text)', to: '(the same value, written differently)' }];
}
