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
  const { bundles, strategy, ...rest } = object(value, field);
  const [other] = Object.keys(rest);
  if (other !== undefined) throw invalid(`${field}.${other.slice(0, 100)}`, 'is not one of bundles, strategy');
  return {
    bundles: listOf(recordOf(amount))(bundles, `${field}.bundles`),
    ...(strategy !== undefined && { strategy: text(strategy, `${field}.strategy`) }),
  };
};
const retries: Check<NonNullable<Submission['retries']>> = (value, field) => {
  const given = recordOf(amount)(value, field);
  const names = new Map([
    ['failed', 'failed'],
    ['node_lost', 'nodeLost'],
    ['preempted', 'preempted'],
    ['setup_failed', 'setupFailed'],
  ]);
  return Object.fromEntries(
    Object.entries(given).map(([name, count]) => {
      const known = names.get(name);
      if (known === undefined) throw invalid(`${field}.${name}`, `is not one of ${[...names.keys()].join(', ')}`);
      return [known, count];
    }),
  );
};

/** Each key of the body, what it has to be, and what it is called inside. */
const fields = new Map<string, (value: unknown) => Partial<Submission>>(
  Object.entries({
    id: (value: unknown) => ({ id: text(value, 'id') }),
    entrypoint: (value: unknown) => ({ entrypoint: text(value, 'entrypoint') }),
    runtime_env: (value: unknown) => ({ runtimeEnv: object(value, 'runtime_env') }),
    metadata: (value: unknown) => ({ metadata: recordOf(text)(value, 'metadata') }),
    resources: (value: unknown) => ({ resources: recordOf(amount)(value, 'resources') }),
    labels: (value: unknown) => ({ labels: recordOf(text)(value, 'labels') }),
    gang: (value: unknown) => ({ gang: gang(value, 'gang') }),
    priority: (value: unknown) => ({ priority: amount(value, 'priority') }),
    retries: (value: unknown) => ({ retries: retries(value, 'retries') }),
    time_limit_s: (value: unknown) => ({ timeLimit: amount(value, 'time_limit_s') * 1_000 }),
    start_after: (value: unknown) => ({ startAfter: amount(value, 'start_after') }),
    cron: (value: unknown) => ({ cron: text(value, 'cron') }),
    depends_on: (value: unknown) => ({ dependsOn: listOf(text)(value, 'depends_on') }),
  }),
);

/** Reads the body of `POST /api/manta/v1/jobs`. Who submits is told by the token alone, and set last. */
export function readSubmitBody(body: unknown, user: string): Submission {
  const given = object(body, 'the body');
  let submission: Omit<Submission, 'user'> = { entrypoint: '' };
  for (const [key, value] of Object.entries(given)) {
    if (value === null) continue;
    const read = fields.get(key);
    if (!read) throw invalid(key.slice(0, 100), `is not a key of a job; known are ${[...fields.keys()].join(', ')}`);
    submission = { ...submission, ...read(value) };
  }
  return { ...submission, user };
}
