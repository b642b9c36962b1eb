import type { Hono } from 'hono';
import { jobRoutes } from '../../api/jobs.ts';
import { limits } from '../../api/limits.ts';
import { userRoutes } from '../../api/users.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { JobsApiDeps } from '../api.ts';
import { jobStatuses } from '../api-answer.ts';
import type { JobsEnv } from '../auth.ts';
import { jobErrors } from '../errors.ts';
import { isOwner, requireOwner } from '../permissions.ts';
import { othersOf } from '../ray-api/details.ts';
import type { User } from '../users.ts';
import { followLogs, readLogs } from './logs.ts';
import { mountOn } from './mount.ts';
import { answerOf, otherRow, pageOf, rowText } from './rows.ts';
import { submissionOf } from './submit-body.ts';

/** The jobs part of Manta's own API: what Ray's lacks, and answers that say why. */
export function mountMantaApi(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  const { queue, store, users } = deps;
  const on = mountOn(app, jobStatuses, (wrong) => jobErrors.Invalid(wrong));
  const find = (id: string): Job => {
    const job = queue.get(id);
    if (!job) throw jobErrors.NotFound({ job: id.slice(0, 200) });
    return job;
  };
  /** The job of the request, for its owner only. */
  const own = ({ params, user }: { params: { id: string }; user: User }, action: string): Job => {
    const job = find(params.id);
    requireOwner(job, user, action);
    return job;
  };

  on(jobRoutes.list, async ({ c, query }) => {
    const { state, limit = limits.jobs.usual, others: withOthers, ...rest } = query;
    const { page, total, next } = pageOf(store.jobs.values(), {
      ...rest,
      states: state?.split(',') ?? [],
      limit: Math.min(limits.jobs.most, Math.max(1, limit)),
    });
    const more = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
    const asked = withOthers === 1 ? (await othersOf(deps)).slice(0, limits.others).map(otherRow) : [];
    const others = asked.length === 0 ? '' : `,"others":${JSON.stringify(asked)}`;
    return c.body(`{"jobs":[${page.map(rowText).join(',')}],"total":${total}${more}${others}}`, 200, {
      'content-type': 'application/json',
    });
  });
  on(jobRoutes.submit, ({ body, user }) => queue.submit(submissionOf(body, user.name), 'same'));
  on(jobRoutes.get, ({ params, user }) => {
    const job = find(params.id);
    return answerOf(job, isOwner(job, user));
  });
  on(jobRoutes.stop, async (asked) => (await queue.stop(own(asked, 'stop').id)).job);
  on(jobRoutes.retry, (asked) => queue.retry(own(asked, 'retry').id));
  on(jobRoutes.remove, async (asked) => {
    await queue.delete(own(asked, 'delete').id);
    return undefined;
  });
  on(jobRoutes.logs, (asked) => readLogs(asked.c, deps, own(asked, 'read the output of'), asked.query));
  on(jobRoutes.follow, (asked) => followLogs(asked.c, deps, own(asked, 'read the output of'), asked.query));

  on(userRoutes.list, ({ query: { after, limit = limits.users.usual } }) => {
    const all = users.list();
    const from = after === undefined ? 0 : all.findIndex(({ name }) => name === after) + 1;
    const page = all.slice(from, from + Math.min(limits.users.most, Math.max(1, limit)));
    const last = page.at(-1);
    return { users: page, ...(from + page.length < all.length && last && { next: last.name }) };
  });
  on(userRoutes.add, ({ body: { name, ...options } }) => users.add(name, options));
  on(userRoutes.revoke, ({ params }) => users.revoke(params.name));
  on(userRoutes.ticket, ({ user }) => ({ ticket: users.makeTicket(user.name) }));
}
