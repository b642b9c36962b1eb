import { dig, entriesAt, isMap, type Json, type JsonMap, listAt, textAt } from './object.ts';

/** When somebody last changed more than the status of an object, by the server's own clock. */
export function changedAt(object: Json | undefined): string {
  const times = listAt(object, 'metadata', 'managedFields')
    .filter((entry) => textAt(entry, 'subresource') === undefined)
    .map((entry) => textAt(entry, 'time') ?? '');
  return times.sort().at(-1) ?? textAt(object, 'metadata', 'creationTimestamp') ?? '';
}

/** When an event was last seen. */
export function seenAt(event: Json): string {
  const times = [
    textAt(event, 'series', 'lastObservedTime'),
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    textAt(event, 'metadata', 'creationTimestamp'),
  ];
  // Those of events.k8s.io have fractions: cut to whole seconds, as all others are.
  return `${times.find((time) => time !== undefined && time !== '')?.slice(0, 19) ?? ''}Z`;
}

/** Who owned fields before `manta` applied them: plain `kubectl apply`, and Manta's own smaller patches. */
const earlier = ['kubectl-client-side-apply', 'manta'];

/**
 * The owners of an object's fields after `manta` has taken over what plain `kubectl apply` owns; undefined where that owns
 * nothing. Without it a field that is no longer in the manifest would never be removed.
 */
export function takeOver(object: Json | undefined, manager: string): readonly Json[] | undefined {
  const entries = listAt(object, 'metadata', 'managedFields');
  const theirs = entries.filter((entry) => isEarlier(entry));
  if (theirs.length === 0) return undefined;
  const isOurs = (entry: Json): boolean =>
    textAt(entry, 'manager') === manager && textAt(entry, 'operation') === 'Apply';
  const ours = entries.find(isOurs);
  const merged = [...(ours === undefined ? [] : [ours]), ...theirs].reduce<JsonMap>(
    (fields, entry) => mergeFields(fields, dig(entry, 'fieldsV1')),
    {},
  );
  const first = theirs[0] as JsonMap;
  return [
    ...entries.filter((entry) => !isOurs(entry) && !isEarlier(entry)),
    { ...first, manager, operation: 'Apply', fieldsV1: merged },
  ];
}

const isEarlier = (entry: Json): boolean =>
  earlier.includes(textAt(entry, 'manager') ?? '') &&
  textAt(entry, 'operation') === 'Update' &&
  !textAt(entry, 'subresource');

function mergeFields(a: JsonMap, b: Json | undefined): JsonMap {
  if (!isMap(b)) return a;
  const merged = new Map<string, Json>(Object.entries(a));
  for (const [key, value] of Object.entries(b)) {
    const known = merged.get(key);
    merged.set(key, isMap(known) ? mergeFields(known, value) : value);
  }
  return Object.fromEntries(merged);
}

/** Fields that plain `kubectl apply` set, and that the new manifest no longer has: taken over, they will go. */
export function orphanedFields(live: Json | undefined, object: JsonMap): readonly string[] {
  return listAt(live, 'metadata', 'managedFields')
    .filter(isEarlier)
    .flatMap((entry) => entriesAt(entry, 'fieldsV1', 'f:spec'))
    .flatMap(([key, below]) => orphansBelow(key, below, dig(live, 'spec'), dig(object, 'spec'), 'spec'));
}

function orphansBelow(
  key: string,
  below: Json,
  live: Json | undefined,
  sent: Json | undefined,
  path: string,
): string[] {
  if (key === '.') return [];
  const step = stepOf(key, live);
  if (step === undefined) return [];
  const [there, next] = [dig(live, step.at), key.startsWith('k:') ? itemLike(key, sent) : dig(sent, step.at)];
  const here = `${path}${step.text}`;
  if (there === undefined) return [];
  if (next === undefined) return [here];
  return isMap(below)
    ? Object.entries(below).flatMap(([inner, more]) => orphansBelow(inner, more, there, next, here))
    : [];
}

function stepOf(key: string, value: Json | undefined): { at: string | number; text: string } | undefined {
  if (key.startsWith('f:')) return { at: key.slice(2), text: `.${key.slice(2)}` };
  if (!key.startsWith('k:') || !Array.isArray(value)) return undefined;
  const at = (value as readonly Json[]).findIndex((item) => hasKeys(item, key));
  return at < 0 ? undefined : { at, text: `[${at}]` };
}

const itemLike = (key: string, list: Json | undefined): Json | undefined =>
  Array.isArray(list) ? (list as readonly Json[]).find((item) => hasKeys(item, key)) : undefined;

function hasKeys(item: Json, key: string): boolean {
  const wanted = JSON.parse(key.slice(2)) as Readonly<Record<string, Json>>;
  return Object.entries(wanted).every(
    ([name, value]) => dig(item, name) === value || (name === 'protocol' && dig(item, name) === undefined),
  );
}

/** Who else keeps an object as it wants it, and would undo a change; undefined where nobody does. */
export function keeperOf(live: Json | undefined): string | undefined {
  const labels = dig(live, 'metadata', 'labels');
  const annotations = dig(live, 'metadata', 'annotations');
  const managers = listAt(live, 'metadata', 'managedFields').map((entry) => textAt(entry, 'manager') ?? '');
  const argo = textAt(annotations, 'argocd.argoproj.io/tracking-id')?.split(':')[0];
  if (argo !== undefined || managers.some((name) => name.startsWith('argocd')))
    return `Argo CD${argo === undefined ? '' : ` (application '${argo}')`}`;
  const flux = textAt(labels, 'kustomize.toolkit.fluxcd.io/name') ?? textAt(labels, 'helm.toolkit.fluxcd.io/name');
  if (flux !== undefined || managers.some((name) => ['kustomize-controller', 'helm-controller'].includes(name)))
    return `Flux${flux === undefined ? '' : ` ('${flux}')`}`;
  const helm = textAt(annotations, 'meta.helm.sh/release-name');
  return helm === undefined ? undefined : `Helm (release '${helm}')`;
}

/** The queue of Kueue that admits an object. */
export const kueueQueueOf = (object: Json | undefined): string | undefined =>
  textAt(object, 'metadata', 'labels', 'kueue.x-k8s.io/queue-name');
