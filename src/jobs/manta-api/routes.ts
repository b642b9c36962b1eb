import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { readOutsideJson } from '../../base/outside-json.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { JobsApiDeps } from '../api.ts';
import { errorAnswer, failureAnswer, jobStatuses } from '../api-answer.ts';
import { apiErrors } from '../api-errors.ts';
import { type JobsEnv, serverLimits } from '../auth.ts';
import { jobErrors } from '../errors.ts';
import { isOwner, requireAdmin, requireOwner } from '../permissions.ts';
import { othersOf } from '../ray-api/details.ts';
import { followLogs, readLogs, wholeNumber } from './logs.ts';
import { answerOf, otherRow, pageOf, rowText } from './rows.ts';
import { readSubmitBody } from './submit-body.ts';

const base = '/api/manta/v1';

/** The jobs part of Manta's own API: what Ray's lacks, and answers that say why. */
export function mountMantaApi(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  const { queue, store, users } = deps;
  const route = (handler: (c: Context<JobsEnv>) => Promise<Response> | Response) => async (c: Context<JobsEnv>) => {
    try {
      return await handler(c);
    } catch (error) {
      return failureAnswer(c, error, jobStatuses);
    }
  };
  const limited = bodyLimit({
    maxSize: serverLimits.bodyBytes,
    onError: (c) => errorAnswer(c, apiErrors.TooLarge({ limit: serverLimits.bodyBytes }), 413),
  });
  const find = (c: Context): Job => {
    const id = c.req.param('id') ?? '';
    const job = queue.get(id);
    if (!job) throw jobErrors.NotFound({ job: id.slice(0, 200) });
    return job;
  };
  /** The job of the request, for its owner only. */
  const own = (c: Context<JobsEnv>, action: string): Job => {
    const job = find(c);
    requireOwner(job, c.get('user'), action);
    return job;
  };

  app.get(
    `${base}/jobs`,
    route(async (c) => {
      const limit = Math.min(1_000, Math.max(1, wholeNumber(c, 'limit') ?? 100));
      const [user, search, before] = [c.req.query('user'), c.req.query('search'), c.req.query('before')];
      const states = (c.req.query('state') ?? '').split(',').filter((state) => state !== '');
      const { page, total, next } = pageOf(store.jobs.values(), {
        states,
        limit,
        ...(user && { user }),
        ...(search && { search }),
        ...(before && { before }),
      });
      const more = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
      const asked = c.req.query('others') === '1' ? (await othersOf(deps)).map(otherRow) : [];
      const others = asked.length === 0 ? '' : `,"others":${JSON.stringify(asked)}`;
      return c.body(`{"jobs":[${page.map(rowText).join(',')}],"total":${total}${more}${others}}`, 200, {
        'content-type': 'application/json',
      });
    }),
  );
  app.post(
    `${base}/jobs`,
    limited,
    route(async (c) => c.json(await queue.submit(readSubmitBody(await jsonBody(c), c.get('user').name), 'same'))),
  );
  app.get(
    `${base}/jobs/:id`,
    route((c) => {
      const job = find(c);
      return c.json(answerOf(job, isOwner(job, c.get('user'))));
    }),
  );
  app.post(
    `${base}/jobs/:id/stop`,
    route(async (c) => c.json((await queue.stop(own(c, 'stop').id)).job)),
  );
  app.post(
    `${base}/jobs/:id/retry`,
    route(async (c) => c.json(await queue.retry(own(c, 'retry').id))),
  );
  app.delete(
    `${base}/jobs/:id`,
    route(async (c) => {
      await queue.delete(own(c, 'delete').id);
      return c.body(null, 204);
    }),
  );
  app.get(
    `${base}/jobs/:id/logs`,
    route((c) => readLogs(c, deps, own(c, 'read the output of'))),
  );
  app.get(
    `${base}/jobs/:id/logs/follow`,
    route((c) => followLogs(c, deps, own(c, 'read the output of'))),
  );

  app.get(
    `${base}/users`,
    route((c) => {
      requireAdmin(c.get('user'), 'list the users');
      return c.json({ users: users.list() });
    }),
  );
  app.post(
    `${base}/users`,
    limited,
    route(async (c) => {
      requireAdmin(c.get('user'), 'add a user');
      const body = (await jsonBody(c)) as { name?: unknown; admin?: unknown; weight?: unknown };
      if (typeof body?.name !== 'string') throw jobErrors.Invalid({ field: 'name', problem: 'is not a string' });
      const weight = typeof body.weight === 'number' ? { weight: body.weight } : {};
      return c.json(await users.add(body.name, { admin: body.admin === true, ...weight }));
    }),
  );
  app.delete(
    `${base}/users/:name`,
    route(async (c) => {
      requireAdmin(c.get('user'), 'revoke a user');
      return c.json(await users.revoke(c.req.param('name') ?? ''));
    }),
  );
  app.post(
    `${base}/tickets`,
    route((c) => c.json({ ticket: users.makeTicket(c.get('user').name) })),
  );
}

async function jsonBody(c: Context): Promise<unknown> {
  try {
    return readOutsideJson(await c.req.text());
  } catch (error) {
    throw jobErrors.Invalid({ field: 'the body', problem: `is not JSON: ${(error as Error).message}` });
  }
}
