import { ownValue } from '../../base/own-value.ts';
import { isSecretName, redact, secretsInText } from '../../base/redact.ts';
import type { Plain, PlainMap } from './cluster.ts';
import { isMap } from './source.ts';

/** A key of the cluster file that is another than before. */
export interface KeyChange {
  /** `available_node_types.worker.max_workers`. */
  readonly key: string;
  readonly before: Plain | undefined;
  readonly after: Plain | undefined;
  /** What it comes to. */
  readonly effect: KeyEffect;
}

export type KeyEffect =
  | 'limits'
  | 'launch'
  | 'files'
  | 'initialization'
  | 'container'
  | 'setup'
  | 'start'
  | 'hosts'
  | 'reach'
  | 'new-cluster'
  | 'settings';

/**
 * What changed between two cluster files, key by key, in the order of the new one. Values that look like secrets are
 * `***`: both, where it is the secret that changed.
 */
export function changedKeys(before: PlainMap, after: PlainMap): readonly KeyChange[] {
  const found: KeyChange[] = [];
  compare(before, after, [], found);
  const secrets = textsIn([before, after]).flatMap((text) => secretsInText(text, 'cluster-file'));
  return found.map((change) => {
    const name = change.key.split('.').at(-1) ?? '';
    return {
      ...change,
      before: masked(change.before, name, secrets),
      after: masked(change.after, name, secrets),
    };
  });
}

function textsIn(value: Plain): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return (value as readonly Plain[]).flatMap(textsIn);
  return isMap(value) ? Object.values(value).flatMap(textsIn) : [];
}

function masked(value: Plain | undefined, name: string, secrets: readonly string[]): Plain | undefined {
  if (typeof value === 'string')
    return isSecretName(name) ? '***' : secrets.reduce((text, each) => text.replaceAll(each, '***'), redact(value));
  if (Array.isArray(value)) return (value as readonly Plain[]).map((each) => masked(each, name, secrets) as Plain);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, masked(each, key, secrets) as Plain]));
}

function compare(
  before: Plain | undefined,
  after: Plain | undefined,
  path: readonly string[],
  found: KeyChange[],
): void {
  if (isMap(before) && isMap(after)) {
    for (const key of new Set([...Object.keys(after), ...Object.keys(before)]))
      compare(ownValue(before, key), ownValue(after, key), [...path, key], found);
    return;
  }
  if (textOf(before) === textOf(after)) return;
  found.push({ key: path.join('.'), before, after, effect: effectOf(path) });
}

const textOf = (value: Plain | undefined): string | undefined =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

const byTopKey: Readonly<Record<string, KeyEffect>> = {
  cluster_name: 'new-cluster',
  max_workers: 'limits',
  min_workers: 'limits',
  upscaling_speed: 'limits',
  idle_timeout_minutes: 'limits',
  docker: 'container',
  auth: 'reach',
  file_mounts: 'files',
  cluster_synced_files: 'files',
  rsync_exclude: 'files',
  rsync_filter: 'files',
  file_mounts_sync_continuously: 'settings',
  initialization_commands: 'initialization',
  setup_commands: 'setup',
  head_setup_commands: 'setup',
  worker_setup_commands: 'setup',
  head_start_ray_commands: 'start',
  worker_start_ray_commands: 'start',
  head_node_type: 'launch',
};

const byTypeKey: Readonly<Record<string, KeyEffect>> = {
  min_workers: 'limits',
  max_workers: 'limits',
  idle_timeout_s: 'limits',
  priority: 'limits',
  resources: 'start',
  labels: 'start',
  node_config: 'launch',
  docker: 'container',
  initialization_commands: 'initialization',
  worker_setup_commands: 'setup',
};

function effectOf([top = '', second = '', third = '']: readonly string[]): KeyEffect {
  if (top === 'provider') {
    if (second === 'head_ip' || second === 'worker_ips' || second === 'manta')
      return second === 'manta' ? 'settings' : 'hosts';
    return 'launch';
  }
  if (top === 'available_node_types') return ownValue(byTypeKey, third) ?? (third === '' ? 'launch' : 'settings');
  return ownValue(byTopKey, top) ?? 'settings';
}

/** Why a change of this kind matters, for a reader who decides whether to go on. */
export const effectWords: Readonly<Record<KeyEffect, string>> = {
  limits: 'the limits: workers above them are terminated, missing ones are added, the others are not affected',
  launch: 'new instances use it; existing ones are replaced one by one when idle',
  files: 'the files are copied again, and the setup commands run again',
  initialization: 'the initialization commands run again',
  container: 'the containers are recreated, which restarts Ray',
  setup:
    'the setup commands run again: on the head while Ray keeps running, on workers one after another, each drained first',
  start: 'Ray restarts on the affected nodes, on workers one after another, each drained first',
  hosts: 'hosts join or leave',
  reach: 'how to reach the hosts: nothing running is affected',
  'new-cluster': 'a different cluster: the one with the old name keeps running',
  settings: "mantad's own settings: nothing running is affected",
};
