import type { Path } from '../../spec/problem.ts';
import { asKubectl } from '../../spec/yaml/go.ts';
import { readYaml } from '../../spec/yaml/read.ts';
import { dig, entriesAt, isMap, type Json, listAt, numberAt, textAt } from '../object.ts';
import type { Check } from './rule-check.ts';

/** What the operator refuses in a RayJob. `spec`: where its spec stands. */
export function jobFindings(check: Check, spec: Path): void {
  const job = check.at(spec);
  if (!isMap(job)) return;
  const at = (key: string): Path => [...spec, key];
  const { error } = check;
  const selector = entriesAt(job, 'clusterSelector');
  const bySelector = selector.length > 0;
  const hasSpec = isMap(job['rayClusterSpec']);
  const mode = textAt(job, 'submissionMode') ?? 'K8sJobMode';
  const ends = job['shutdownAfterJobFinishes'] === true;
  const retries = numberAt(job, 'backoffLimit') ?? 0;
  if (!hasSpec && !bySelector) error(spec, 'a RayJob needs rayClusterSpec or clusterSelector', 'add one of them');
  if (bySelector && (textAt(job, 'clusterSelector', 'ray.io/cluster') ?? '') === '')
    error(at('clusterSelector'), 'clusterSelector names no cluster', 'write ray.io/cluster: NAME');
  if (bySelector && mode === 'SidecarMode')
    error(
      at('submissionMode'),
      'SidecarMode needs a cluster of its own',
      'remove clusterSelector, or use another mode',
    );
  if (retries > 0 && (bySelector || mode === 'InteractiveMode'))
    error(
      at('backoffLimit'),
      `backoffLimit does not go with ${bySelector ? 'clusterSelector' : 'InteractiveMode'}`,
      'remove it',
    );
  if (retries < 0) error(at('backoffLimit'), `backoffLimit is ${retries}`, 'it may not be negative');
  if (job['suspend'] === true && !ends) error(at('suspend'), 'suspend needs shutdownAfterJobFinishes: true', 'set it');
  if (job['suspend'] === true && bySelector)
    error(at('suspend'), 'a job on another cluster cannot be suspended', 'remove suspend');
  if (mode === 'SidecarMode') sidecarFindings(check, job, spec);
  const ttl = numberAt(job, 'ttlSecondsAfterFinished') ?? 0;
  if (ttl < 0) error(at('ttlSecondsAfterFinished'), `ttlSecondsAfterFinished is ${ttl}`, 'it may not be negative');
  if (ttl > 0 && !ends)
    error(at('ttlSecondsAfterFinished'), 'ttlSecondsAfterFinished needs shutdownAfterJobFinishes: true', 'set it');
  for (const key of ['activeDeadlineSeconds', 'preRunningDeadlineSeconds'])
    if ((numberAt(job, key) ?? 1) <= 0) error(at(key), `${key} must be more than 0`, 'change it');
  const environment = textAt(job, 'runtimeEnvYAML');
  const read = environment === undefined ? undefined : readYaml('', environment, asKubectl);
  if (read !== undefined && 'problems' in read)
    error(at('runtimeEnvYAML'), `runtimeEnvYAML is not YAML: ${read.problems[0]!.message}`, 'correct it');
  if (isMap(job['deletionStrategy'])) deletionFindings(check, job, spec, { bySelector, ends });
}

function sidecarFindings({ error }: Check, job: Json, spec: Path): void {
  for (const key of ['submitterPodTemplate', 'submitterConfig'])
    if (entriesAt(job, key).length > 0) error([...spec, key], `SidecarMode has no ${key}`, 'remove it');
  const policy = textAt(job, 'rayClusterSpec', 'headGroupSpec', 'template', 'spec', 'restartPolicy');
  if (policy !== undefined && policy !== 'Never')
    error(
      [...spec, 'rayClusterSpec', 'headGroupSpec'],
      'SidecarMode needs restartPolicy: Never of the head',
      'remove restartPolicy',
    );
}

const order = ['DeleteWorkers', 'DeleteCluster', 'DeleteSelf'];

interface Strategy {
  readonly bySelector: boolean;
  readonly ends: boolean;
}

function deletionFindings(check: Check, job: Json, spec: Path, { bySelector, ends }: Strategy): void {
  const path = [...spec, 'deletionStrategy'];
  const rules = listAt(check.at(path), 'deletionRules');
  const older = ['onSuccess', 'onFailure'].map((key) => textAt(check.at([...path, key]), 'policy'));
  const isOlder = older.some((policy) => policy !== undefined);
  const { error } = check;
  if (rules.length > 0 && ends)
    error(path, 'deletionRules and shutdownAfterJobFinishes exclude each other', 'remove shutdownAfterJobFinishes');
  if (rules.length > 0 && isOlder)
    error(path, 'deletionRules and onSuccess/onFailure exclude each other', 'keep deletionRules');
  if (rules.length === 0 && older.includes(undefined))
    error(path, 'deletionStrategy needs deletionRules, or both onSuccess and onFailure', 'add them');
  const policies = [...older, ...rules.map((rule) => textAt(rule, 'policy'))];
  if (bySelector && policies.some((policy) => policy === 'DeleteCluster' || policy === 'DeleteWorkers'))
    error(path, 'the cluster of clusterSelector cannot be deleted by the job', 'use DeleteSelf or DeleteNone');
  if (policies.includes('DeleteWorkers') && isScaled(job))
    error(path, 'DeleteWorkers does not go with the autoscaler', 'use DeleteCluster');
  if (isOlder && ends && older.includes('DeleteNone'))
    error(path, 'DeleteNone does not go with shutdownAfterJobFinishes', 'remove one of them');
  ruleFindings(check, rules, path);
}

const isScaled = (job: Json): boolean => dig(job, 'rayClusterSpec', 'enableInTreeAutoscaling') === true;

/** What goes first has to go first: workers, then the cluster, then the job itself. */
function ruleFindings({ error }: Check, rules: readonly Json[], path: Path): void {
  const times = new Map<string, Map<string, number>>();
  rules.forEach((rule, at) => {
    const where = [...path, 'deletionRules', at];
    const [status, deployment] = ['jobStatus', 'jobDeploymentStatus'].map((key) => textAt(rule, 'condition', key));
    const ttl = numberAt(rule, 'condition', 'ttlSeconds') ?? 0;
    if ((status === undefined) === (deployment === undefined))
      error(where, 'a rule has either jobStatus or jobDeploymentStatus', 'keep one of them');
    if (ttl < 0) error(where, `ttlSeconds is ${ttl}`, 'it may not be negative');
    const key = status ?? `deployment ${deployment ?? ''}`;
    const policy = textAt(rule, 'policy') ?? '';
    const known = times.get(key) ?? new Map<string, number>();
    if (known.has(policy)) error(where, `there are two rules for ${policy} and ${key}`, 'keep one of them');
    times.set(key, known.set(policy, ttl));
  });
  for (const [key, known] of times) {
    const found = order.flatMap((policy) => known.get(policy) ?? []);
    if (found.some((ttl, at) => at > 0 && ttl < found[at - 1]!))
      error(
        path,
        `the times for ${key} are not in order: workers, then the cluster, then the job`,
        'make later ones longer',
      );
  }
}
