import type { GivenSubmission } from '../../api/jobs.ts';
import type { Submission } from '../queue/submission.ts';

/** What is asked for by the body of `POST /api/manta/v1/jobs`. Who submits is told by the token alone. */
export function submissionOf(body: GivenSubmission, user: string): Submission {
  const { retries, gang, time_limit_s: limit } = body;
  return {
    ...given('id', body.id),
    entrypoint: body.entrypoint,
    ...given('runtimeEnv', body.runtime_env),
    ...given('metadata', body.metadata),
    ...given('resources', body.resources),
    ...given('labels', body.labels),
    ...(gang && { gang: { bundles: gang.bundles, ...given('strategy', gang.strategy) } }),
    ...given('priority', body.priority),
    ...(retries && {
      retries: {
        ...given('failed', retries.failed),
        ...given('nodeLost', retries.node_lost),
        ...given('preempted', retries.preempted),
        ...given('setupFailed', retries.setup_failed),
      },
    }),
    ...given('timeLimit', limit === undefined || limit === null ? limit : limit * 1_000),
    ...given('startAfter', body.start_after),
    ...given('cron', body.cron),
    ...given('dependsOn', body.depends_on),
    user,
  };
}

/** Nothing for a key that was left out, or given as null. */
const given = <Key extends string, Value>(key: Key, value: Value | null | undefined): Partial<Record<Key, Value>> =>
  value === undefined || value === null ? {} : ({ [key]: value } as Partial<Record<Key, Value>>);
