import { limits } from '../../api/limits.ts';
import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Job, JobSpec, Retries } from '../../core/jobs/job.ts';
import { parseSelector } from '../../core/jobs/labels.ts';
import { messages } from '../../core/jobs/messages.ts';
import type { Labels, Resources } from '../../core/resources.ts';
import { jobErrors } from '../errors.ts';
import { nextFiring, scheduleProblem } from './cron.ts';
import { specKeys } from './store.ts';

/** A job as a client asks for it; everything but the entrypoint may be left out. */
export interface Submission {
  readonly id?: string;
  readonly user: string;
  readonly entrypoint: string;
  readonly runtimeEnv?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly resources?: Resources;
  readonly labels?: Labels;
  readonly gang?: { readonly bundles: readonly Resources[]; readonly strategy?: string };
  readonly priority?: number;
  readonly retries?: Partial<Retries>;
  readonly timeLimit?: Duration;
  readonly startAfter?: Instant;
  readonly cron?: string;
  readonly dependsOn?: readonly string[];
}

/** Nothing is run twice unless the job says that it may be. */
const noRetries: Retries = { failed: 0, nodeLost: 0, preempted: 0, setupFailed: 0 };

const strategies = ['PACK', 'SPREAD', 'STRICT_PACK', 'STRICT_SPREAD'] as const;

/** The fully defaulted spec; throws Invalid with the field and what is wrong with it. */
export function specOf(submission: Submission, id: string, now: Instant): JobSpec {
  const gang = submission.gang && gangOf(submission.gang);
  const spec: JobSpec = {
    id: checkId('submission_id', id),
    user: submission.user,
    entrypoint: checkEntrypoint(submission.entrypoint),
    runtimeEnv: checkRuntimeEnv(submission.runtimeEnv ?? {}),
    metadata: checkMetadata(submission.metadata ?? {}),
    resources: checkResources('resources', submission.resources ?? {}),
    labels: checkLabels(submission.labels ?? {}),
    ...(gang && { gang }),
    priority: checkWhole('priority', submission.priority ?? 0, -1_000_000),
    retries: checkRetries({ ...noRetries, ...submission.retries }),
    ...(submission.timeLimit !== undefined && { timeLimit: checkPositive('time_limit', submission.timeLimit) }),
    ...(submission.startAfter !== undefined && { startAfter: checkPositive('start_after', submission.startAfter) }),
    ...(submission.cron !== undefined && { cron: checkCron(submission.cron) }),
    dependsOn: checkDependencies(submission.dependsOn ?? []),
    submittedAt: now,
  };
  return spec;
}

/** The job as it enters the queue: held when something holds it back, otherwise ready for its turn. */
export function newJob(spec: JobSpec, now: Instant): Job {
  const held = spec.cron !== undefined || spec.dependsOn.length > 0 || (spec.startAfter ?? 0) > now;
  const next = spec.cron === undefined ? undefined : nextFiring(spec.cron, Math.max(now, spec.startAfter ?? 0));
  return {
    ...spec,
    state: held ? 'held' : 'queued',
    attempts: [],
    message: messages.waiting(spec),
    ...(next !== undefined && { notBefore: next }),
  };
}

/** Whether two specs ask for the same work: what makes a repeated submission harmless. */
export function sameWork(a: JobSpec, b: JobSpec): boolean {
  const work = (spec: JobSpec): string =>
    canonical(specKeys.filter((key) => key !== 'submittedAt').map((key) => spec[key] ?? null));
  return work(a) === work(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

const invalid = (field: string, problem: string): Error => jobErrors.Invalid({ field, problem });

/** Ids become parts of URLs, file names and attempt ids. */
function checkId(field: string, id: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.:@+=-]*$/.test(id) || id.length > limits.idLength) {
    throw invalid(
      field,
      `'${id.slice(0, 50)}' must be 1 to ${limits.idLength} letters, digits or any of _ . : @ + = -`,
    );
  }
  return id;
}

function checkEntrypoint(entrypoint: string): string {
  if (entrypoint.trim() === '') throw invalid('entrypoint', 'is empty');
  if (entrypoint.includes('\0') || Buffer.byteLength(entrypoint) > limits.entrypointBytes)
    throw invalid('entrypoint', `is longer than ${limits.entrypointBytes} bytes or contains a null byte`);
  return entrypoint;
}

/** What is in it is checked where it is read. */
function checkRuntimeEnv(env: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (jsonBytes('runtime_env', env) > limits.runtimeEnvBytes)
    throw invalid('runtime_env', `is longer than ${limits.runtimeEnvBytes} bytes as JSON`);
  return env;
}

function checkMetadata(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(metadata);
  if (entries.length > limits.metadataEntries)
    throw invalid('metadata', `has ${entries.length} entries; ${limits.metadataEntries} are allowed`);
  for (const [name, value] of entries) {
    if (name.length > limits.metadataName)
      throw invalid('metadata', `has a key longer than ${limits.metadataName} characters: '${name.slice(0, 50)}…'`);
    if (value.length > limits.metadataValue)
      throw invalid(`metadata['${name.slice(0, 50)}']`, `is longer than ${limits.metadataValue} characters`);
  }
  if (jsonBytes('metadata', metadata) > limits.metadataBytes)
    throw invalid('metadata', `is longer than ${limits.metadataBytes} bytes as JSON`);
  return metadata;
}

function jsonBytes(field: string, value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch (error) {
    if (error instanceof RangeError) throw invalid(field, 'is nested too deeply');
    throw error;
  }
}

function checkResources(field: string, resources: Resources): Resources {
  const entries = Object.entries(resources);
  if (entries.length > limits.names) throw invalid(field, `names more than ${limits.names} resources`);
  for (const [name, amount] of entries) {
    if (name === '' || name.length > limits.nameLength)
      throw invalid(field, 'has a resource without a name, or with one that is too long');
    if (!Number.isFinite(amount) || amount < 0)
      throw invalid(field, `requests ${amount} of '${name}'; amounts must be 0 or more`);
  }
  return Object.fromEntries(entries.filter(([, amount]) => amount > 0));
}

function checkLabels(labels: Labels): Labels {
  const entries = Object.entries(labels);
  if (entries.length > limits.names) throw invalid('label_selector', `names more than ${limits.names} labels`);
  if (entries.some(([name, value]) => name.length > limits.labelLength || value.length > limits.labelLength))
    throw invalid('label_selector', `has a name or value longer than ${limits.labelLength} characters`);
  if (!parseSelector(labels))
    throw invalid('label_selector', "has a value that is not 'a', '!a', 'in(a,b)' or '!in(a,b)'");
  return labels;
}

function gangOf(gang: NonNullable<Submission['gang']>): NonNullable<JobSpec['gang']> {
  const strategy = strategies.find((each) => each === (gang.strategy ?? 'PACK'));
  if (!strategy) throw invalid('gang.strategy', `'${gang.strategy}' is not one of ${strategies.join(', ')}`);
  if (gang.bundles.length === 0 || gang.bundles.length > limits.bundles)
    throw invalid('gang.bundles', `has ${gang.bundles.length} bundles; 1 to ${limits.bundles} are allowed`);
  const bundles = gang.bundles.map((bundle, at) => checkResources(`gang.bundles[${at}]`, bundle));
  const empty = bundles.findIndex((bundle) => Object.keys(bundle).length === 0);
  if (empty >= 0) throw invalid(`gang.bundles[${empty}]`, 'requests nothing');
  return { bundles, strategy };
}

function checkWhole(field: string, value: number, least: number): number {
  if (!Number.isInteger(value) || value < least || value > 1_000_000)
    throw invalid(field, `${value} is not a whole number of ${least} to 1000000`);
  return value;
}

function checkRetries(retries: Retries): Retries {
  for (const [cause, count] of Object.entries(retries)) checkWhole(`retries.${cause}`, count as number, 0);
  return retries;
}

function checkPositive(field: string, value: number): number {
  if (!Number.isFinite(value) || value <= 0) throw invalid(field, `${value} is not more than 0`);
  return value;
}

function checkCron(cron: string): string {
  if (cron.length > limits.nameLength) throw invalid('cron', `is longer than ${limits.nameLength} characters`);
  const problem = scheduleProblem(cron);
  if (problem !== undefined) throw invalid('cron', `'${cron.slice(0, 100)}': ${problem}`);
  return cron;
}

function checkDependencies(ids: readonly string[]): readonly string[] {
  if (ids.length > limits.dependencies) throw invalid('depends_on', `names more than ${limits.dependencies} jobs`);
  return [...new Set(ids)].map((id) => checkId('depends_on', id));
}
