import type { Job } from '../core/jobs/job.ts';
import { jobErrors } from './errors.ts';
import type { User } from './users.ts';

/** Jobs belong to who submitted them; an administrator may act for everybody. */
export function requireOwner(job: Job, user: User, action: string): void {
  if (!isOwner(job, user)) throw jobErrors.NotYours({ job: job.id, action });
}

export const isOwner = (job: Job, user: User): boolean => user.admin || job.user === user.name;
