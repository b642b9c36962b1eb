import type { Hono } from 'hono';
import { jobRoutes } from '../../api/jobs.ts';
import { limits } from '../../api/limits.ts';
import { userRoutes } from '../../api/users.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { JobsApiDeps } from '../api.ts';
import { jobStatuses } from '../api-answer.ts';
import { jobErrors } from '../errors.ts';
import { Shares } from '../queue/shares.ts';
import { othersOf } from '../ray-api/details.ts';
import type { JobsEnv } from '../users/auth.ts';
import { isOwner, requireOwner } from '../users/permissions.ts';
import type { User } from '../users/users.ts';
import { followLogs, readLogs } from './logs.ts';
import { mountOn } from './mount.ts';
import { answerOf, otherRow, pageOf, rowTexts } from './rows.ts';
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

  /** One at a time for each user: it may have to go through a hundred thousand commands. */
  const searches = new Shares(1);

  on(jobRoutes.list, async ({ c, query, user }) => {
    const { state, limit = limits.jobs.usual, others: withOthers, ...rest } = query;
    const asked = {
      ...rest,
      states: state?.split(',') ?? [],
      limit: Math.min(limits.jobs.most, Math.max(1, limit)),
    };
    const release = rest.search === undefined ? undefined : await searches.take(user.name, 1);
    const { page, total, next } = await pageOf(store.jobs.values(), asked, c.req.raw.signal).finally(release);
    const texts = await rowTexts(page);
    const more = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
    const rows = withOthers === 1 ? (await othersOf(deps)).slice(0, limits.others).map(otherRow) : [];
    const others = rows.length === 0 ? '' : `,"others":${JSON.stringify(rows)}`;
    return c.body(`{"jobs":[${texts.join(',')}],"total":${total}${more}${others}}`, 200, {
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
