import { isSecretName } from '../../base/redact.ts';
import { dig, entriesAt, isMap, type Json, type JsonMap, listAt, textAt } from './object.ts';

/** One value that differs: what is there, and what will be. */
export interface Difference {
  readonly path: string;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
}

/** What applying an object does, judged by what the server would make of it. */
export interface Change {
  readonly effect: 'created' | 'unchanged' | 'in place' | 'new pods' | 'nothing will happen' | 'changed';
  readonly differences: readonly Difference[];
}

/** `after` is the server's answer to a dry run. */
export function changeOf(kind: string, before: Json | undefined, after: Json): Change {
  if (before === undefined) return { effect: 'created', differences: [] };
  const differences = [
    ...compare(dig(before, 'metadata', 'labels'), dig(after, 'metadata', 'labels'), 'metadata.labels'),
    ...compare(dig(before, 'metadata', 'annotations'), dig(after, 'metadata', 'annotations'), 'metadata.annotations'),
    ...entriesAt(after)
      .filter(([key]) => !['apiVersion', 'kind', 'metadata', 'status'].includes(key))
      .flatMap(([key, value]) => compare(dig(before, key), value, key)),
  ].map((each) =>
    kind === 'Secret' || /\benv\[\d+\]\.value$/.test(each.path) || isSecretName(lastName(each.path))
      ? { ...each, from: '***', to: '***' }
      : { ...each, from: withoutValues(each.from), to: withoutValues(each.to) },
  );
  return { effect: effectOf(kind, differences, after), differences };
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

/** The operator follows replicas and limits of a plain RayCluster at once; other edits of pods it ignores, or replaces all pods. */
function effectOf(kind: string, differences: readonly Difference[], after: Json): Change['effect'] {
  if (differences.length === 0) return 'unchanged';
  if (kind !== 'RayCluster') return 'changed';
  const ofPods = differences.filter(
    ({ path }) =>
      /\.(?:template|rayStartParams)(?:\.|$)|\.(?:resources|labels)\b|rayVersion$/.test(path) &&
      path.startsWith('spec.'),
  );
  if (ofPods.length === 0) return 'in place';
  return textAt(after, 'spec', 'upgradeStrategy', 'type') === 'Recreate' ? 'new pods' : 'nothing will happen';
}

function compare(from: Json | undefined, to: Json | undefined, path: string): readonly Difference[] {
  if (isMap(from) && isMap(to))
    return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
      compare(dig(from, key), dig(to, key), `${path}.${key}`),
    );
  if (Array.isArray(from) && Array.isArray(to))
    return Array.from({ length: Math.max(from.length, to.length) }, (_, at) => at).flatMap((at) =>
      compare(dig(from, at), dig(to, at), `${path}[${at}]`),
    );
  return from === to ? [] : [{ path, from, to }];
}

/**
 * Where Ray's autoscaler owns `replicas`, the live number is sent: the list of groups is one value to the API server, and
 * a number that is left out of it would become 0.
 */
export function withLiveReplicas(object: JsonMap, live: Json | undefined): JsonMap {
  const spec = dig(object, 'spec');
  if (textAt(object, 'kind') !== 'RayCluster' || !isMap(spec) || dig(spec, 'enableInTreeAutoscaling') !== true)
    return object;
  const groups = listAt(spec, 'workerGroupSpecs').map((group) => {
    const same = listAt(live, 'spec', 'workerGroupSpecs').find(
      (each) => textAt(each, 'groupName') === textAt(group, 'groupName'),
    );
    const replicas = dig(same, 'replicas');
    return isMap(group) && typeof replicas === 'number' ? { ...group, replicas } : group;
  });
  return groups.length === 0 ? object : { ...object, spec: { ...spec, workerGroupSpecs: groups } };
}
