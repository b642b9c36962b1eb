import type { Job } from '../../../src/core/jobs/job.ts';
import { fc } from '../../property.ts';

/** A job with defaults, for tests that care about a few fields. */
export function job(fields: Partial<Job> & { id: string }): Job {
  return {
    user: 'ada',
    entrypoint: 'true',
    runtimeEnv: {},
    metadata: {},
    resources: { CPU: 1 },
    labels: {},
    priority: 0,
    retries: { failed: 0, nodeLost: 0, preempted: 0, setupFailed: 0 },
    dependsOn: [],
    submittedAt: 0,
    state: 'queued',
    attempts: [],
    message: '',
    ...fields,
  };
}

export const anyCause = fc.constantFrom(
  'succeeded' as const,
  'failed' as const,
  'stopped' as const,
  'node-lost' as const,
  'preempted' as const,
  'setup-failed' as const,
  'memory-limit' as const,
  'time-limit' as const,
  'start-failed' as const,
);
