import { apiErrors } from '../../api/errors.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { User } from './users.ts';

/** Jobs belong to who submitted them; an administrator may act for everybody. */
export function requireOwner(job: Job, user: User, action: string): void {
  if (!isOwner(job, user)) throw apiErrors.NotYours({ job: job.id, action });
}

export const isOwner = (job: Job, user: User): boolean => user.admin || job.user === user.name;

/** Users and the cluster itself are the business of administrators. */
export function requireAdmin(user: User, action: string): void {
  if (!user.admin) throw apiErrors.AdminOnly({ action });
}
