import type { Job } from '../../core/jobs/job.ts';
import type { RequestTarget } from './path.ts';

const logPath = /^\/api\/v0\/logs\/[^/]+$/;

/** Ray has a file of output for each attempt of a job; its page and its commands ask for it by the job, and get the last. */
export function byAttempt(target: RequestTarget, jobOf: (id: string) => Job | undefined): RequestTarget {
  if (!logPath.test(target.path)) return target;
  const query = new URLSearchParams(target.query);
  const attemptOf = (id: string | undefined): string | undefined => {
    const last = id === undefined ? undefined : jobOf(id)?.attempts.at(-1);
    return last?.submission ?? last?.id;
  };
  const byId = attemptOf(query.get('submission_id') ?? undefined);
  if (byId !== undefined) query.set('submission_id', byId);
  const byFile = attemptOf(/^job-driver-(.+)\.log$/.exec(query.get('filename') ?? '')?.[1]);
  if (byFile !== undefined) query.set('filename', `job-driver-${byFile}.log`);
  return byId === undefined && byFile === undefined ? target : { ...target, query: `?${query.toString()}` };
}
