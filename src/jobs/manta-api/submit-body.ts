import type { Resources } from '../../core/resources.ts';
import { jobErrors } from '../errors.ts';
import type { Submission } from '../submission.ts';

type Check<Value> = (value: unknown, field: string) => Value;

const invalid = (field: string, problem: string): Error => jobErrors.Invalid({ field, problem });
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Check<string> = (value, field) => {
  if (typeof value !== 'string') throw invalid(field, 'is not a string');
  return value;
};
const amount: Check<number> = (value, field) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw invalid(field, 'is not a number');
  return value;
};
const object: Check<Record<string, unknown>> = (value, field) => {
  if (!isRecord(value)) throw invalid(field, 'is not an object');
  return value;
};
const recordOf =
  <Value>(check: Check<Value>): Check<Record<string, Value>> =>
  (value, field) =>
    Object.fromEntries(
      Object.entries(object(value, field)).map(([name, each]) => [name, check(each, `${field}.${name}`)]),
    );
const listOf =
  <Value>(check: Check<Value>): Check<Value[]> =>
  (value, field) => {
    if (!Array.isArray(value)) throw invalid(field, 'is not a list');
    return (value as unknown[]).map((each, at) => check(each, `${field}[${at}]`));
  };

const gang: Check<{ bundles: Resources[]; strategy?: string }> = (value, field) => {
  const { bundles, strategy } = object(value, field);
  return {
    bundles: listOf(recordOf(amount))(bundles, `${field}.bundles`),
    ...(strategy !== undefined && { strategy: text(strategy, `${field}.strategy`) }),
  };
};
const retries: Check<NonNullable<Submission['retries']>> = (value, field) => {
  const given = recordOf(amount)(value, field);
  const names: Readonly<Record<string, string>> = {
    failed: 'failed',
    node_lost: 'nodeLost',
    preempted: 'preempted',
    setup_failed: 'setupFailed',
  };
  return Object.fromEntries(
    Object.entries(given).map(([name, count]) => {
      const known = names[name];
      if (known === undefined) throw invalid(`${field}.${name}`, `is not one of ${Object.keys(names).join(', ')}`);
      return [known, count];
    }),
  );
};

/** Each key of the body, what it has to be, and what it is called inside. */
const fields: Readonly<Record<string, (value: unknown) => Partial<Submission>>> = {
  id: (value) => ({ id: text(value, 'id') }),
  entrypoint: (value) => ({ entrypoint: text(value, 'entrypoint') }),
  runtime_env: (value) => ({ runtimeEnv: object(value, 'runtime_env') }),
  metadata: (value) => ({ metadata: recordOf(text)(value, 'metadata') }),
  resources: (value) => ({ resources: recordOf(amount)(value, 'resources') }),
  labels: (value) => ({ labels: recordOf(text)(value, 'labels') }),
  gang: (value) => ({ gang: gang(value, 'gang') }),
  priority: (value) => ({ priority: amount(value, 'priority') }),
  retries: (value) => ({ retries: retries(value, 'retries') }),
  time_limit_s: (value) => ({ timeLimit: amount(value, 'time_limit_s') * 1_000 }),
  start_after: (value) => ({ startAfter: amount(value, 'start_after') }),
  cron: (value) => ({ cron: text(value, 'cron') }),
  depends_on: (value) => ({ dependsOn: listOf(text)(value, 'depends_on') }),
};

/** Reads the body of `POST /api/manta/v1/jobs`. */
export function readSubmitBody(body: unknown, user: string): Submission {
  const given = object(body, 'the body');
  let submission: Submission = { user, entrypoint: '' };
  for (const [key, value] of Object.entries(given)) {
    if (value === null) continue;
    const read = fields[key];
    if (!read) throw invalid(key.slice(0, 100), `is not a key of a job; known are ${Object.keys(fields).join(', ')}`);
    submission = { ...submission, ...read(value) };
  }
  return submission;
}
