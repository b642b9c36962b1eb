import { isSecretName } from '../../base/redact.ts';
import { type Difference, differencesOf } from '../differences.ts';
import { dig, entriesAt, isMap, type Json, type JsonMap, listAt, numberAt, textAt } from './object.ts';
import { type Effect, serveDifferences, serviceEffect } from './service-change.ts';

/** What applying an object does, judged by what the server would make of it. */
export interface Change extends Effect {
  readonly differences: readonly Difference[];
}

/** `after` is the server's answer to a dry run; `gone`: fields that it keeps in a dry run, and that will go. */
export function changeOf(kind: string, before: Json | undefined, after: Json, gone: readonly string[] = []): Change {
  if (before === undefined) return { effect: 'created', differences: [], notes: [] };
  const found = [
    ...differencesOf(dig(before, 'metadata', 'labels'), dig(after, 'metadata', 'labels'), 'metadata.labels'),
    ...differencesOf(
      dig(before, 'metadata', 'annotations'),
      dig(after, 'metadata', 'annotations'),
      'metadata.annotations',
    ),
    ...entriesAt(after)
      .filter(([key]) => !['apiVersion', 'kind', 'metadata', 'status'].includes(key))
      .flatMap(([key, value]) => differencesOf(dig(before, key), value, key)),
    ...gone.map((path): Difference => ({ path, from: '(set by kubectl apply)', to: undefined })),
  ].filter(({ path }) => path !== `metadata.annotations.${lastApplied}`);
  const { effect, notes } = effectOf(kind, found, before, after);
  return { effect, notes, differences: found.flatMap((each) => shownOf(kind, each)) };
}

/** What plain `kubectl apply` keeps a copy of the manifest in. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function shownOf(kind: string, each: Difference): readonly Difference[] {
  if (kind === 'Secret' || /\benv\[\d+\]\.value$/.test(each.path) || isSecretName(lastName(each.path)))
    return [{ ...each, from: '***', to: '***' }];
  if (kind === 'RayService' && each.path === 'spec.serveConfigV2') return serveDifferences(each);
  return [{ ...each, from: withoutValues(each.from), to: withoutValues(each.to) }];
}

/** `redis-password` of `spec.headGroupSpec.rayStartParams.redis-password`, and of a list under such a name. */
const lastName = (path: string): string =>
  path
    .replaceAll(/\[\d+\]/g, '')
    .split(/[./]/)
    .at(-1) ?? '';

/** Variables of containers may be secrets: what is not a reference to one is not shown. */
function withoutValues<Value extends Json | undefined>(value: Value): Value {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutValues) as unknown as Value;
  if (!isMap(value)) return value;
  const isVariable = typeof value['name'] === 'string' && typeof value['value'] === 'string';
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, isVariable && key === 'value' ? '***' : withoutValues(each)]),
  ) as Value;
}

function effectOf(kind: string, differences: readonly Difference[], before: Json, after: Json): Effect {
  if (differences.length === 0) return { effect: 'unchanged', notes: [] };
  if (kind === 'RayCluster') return clusterEffect(differences, after);
  if (kind === 'RayService') return serviceEffect(differences, before, after);
  if (kind === 'RayJob') return jobEffect(differences);
  if (kind === 'RayCronJob') return { effect: 'in place', notes: ['the next run is the first with these changes'] };
  return { effect: 'changed', notes: [] };
}

const isOfPods = /\.(?:template|rayStartParams)(?:\.|$)|\.(?:resources|labels)\b|rayVersion$/;

/** The operator follows replicas and limits of a plain RayCluster at once; other edits of pods it ignores, or replaces all pods. */
function clusterEffect(differences: readonly Difference[], after: Json): Effect {
  const ofPods = differences.filter(({ path }) => isOfPods.test(path) && path.startsWith('spec.'));
  if (ofPods.length === 0) return { effect: 'in place', notes: [] };
  if (textAt(after, 'spec', 'upgradeStrategy', 'type') === 'Recreate')
    return { effect: 'new pods', notes: ['upgradeStrategy.type is Recreate: all pods end, then new ones start'] };
  return {
    effect: 'nothing will happen',
    notes: [
      'KubeRay leaves running pods of a RayCluster as they are: delete and create it, or set upgradeStrategy.type: Recreate',
    ],
  };
}

/** A RayJob runs once, as it was when it started. */
function jobEffect(differences: readonly Difference[]): Effect {
  const followed =
    /^(?:metadata\.|spec\.(?:suspend|ttlSecondsAfterFinished|activeDeadlineSeconds|shutdownAfterJobFinishes|deletionStrategy)\b)/;
  if (differences.every(({ path }) => followed.test(path))) return { effect: 'in place', notes: [] };
  return {
    effect: 'nothing will happen',
    notes: ['a RayJob runs once, as it was when it started: delete it and apply it again, or give it another name'],
  };
}

/**
 * The list of groups is one value to the API server, and a number that is left out of it becomes 0. So the live number is sent
 * where Ray's autoscaler owns it, and where the manifest leaves it out.
 */
export function withLiveReplicas(object: JsonMap, live: Json | undefined): JsonMap {
  const spec = dig(object, 'spec');
  if (textAt(object, 'kind') !== 'RayCluster' || !isMap(spec)) return object;
  const isScaled = dig(spec, 'enableInTreeAutoscaling') === true;
  const groups = listAt(spec, 'workerGroupSpecs').map((group) => {
    const same = listAt(live, 'spec', 'workerGroupSpecs').find(
      (each) => textAt(each, 'groupName') === textAt(group, 'groupName'),
    );
    const replicas = numberAt(same, 'replicas');
    const keep = isScaled || dig(group, 'replicas') === undefined;
    return isMap(group) && replicas !== undefined && keep ? { ...group, replicas } : group;
  });
  return groups.length === 0 ? object : { ...object, spec: { ...spec, workerGroupSpecs: groups } };
}

/** Kueue says when a workload of its queues runs: a manifest's own word on it is not sent once the object exists. */
export function withoutKueueFields(object: JsonMap, live: Json | undefined): JsonMap {
  const queue = textAt(live, 'metadata', 'labels', 'kueue.x-k8s.io/queue-name');
  const spec = dig(object, 'spec');
  if (queue === undefined || !isMap(spec) || dig(spec, 'suspend') === undefined) return object;
  const { suspend: _, ...rest } = spec;
  return { ...object, spec: rest };
}
