import { Readable } from 'node:stream';
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { apiErrors } from '../../api/errors.ts';
import { readOutsideJson } from '../../base/outside-json.ts';
import { Slices } from '../../base/slices.ts';
import { databaseErrors } from '../../base/sqlite/errors.ts';
import { isOver, type Job } from '../../core/jobs/job.ts';
import type { Driver } from '../../engines/runner.ts';
import type { JobsApiDeps } from '../api.ts';
import { jobErrors } from '../errors.ts';
import { readJob } from '../logs/job-log.ts';
import type { JobStore } from '../queue/store.ts';
import { authenticate, type JobsEnv, serverLimits } from '../users/auth.ts';
import { isOwner, requireOwner } from '../users/permissions.ts';
import type { User } from '../users/users.ts';
import { jobDetails, listedJob, listedOther, type OtherJob, othersOf } from './details.ts';
import { driverOf, driversOf, findJob } from './drivers.ts';
import { BadRequest, readSubmitRequest } from './submit-request.ts';
import { words } from './words.ts';

/** Ray's jobs API, as its command line and Python client use it. */
export function mountRayApi(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  mountCluster(app, deps);
  mountPackages(app, deps);
  mountJobs(app, deps);
  mountLogs(app, deps);
}

/** What a client asks of the cluster before it sends anything. */
function mountCluster(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  const version = (c: Context): Response =>
    c.json({
      version: '4',
      ray_version: deps.ray.version,
      ray_commit: deps.ray.commit,
      session_name: deps.sessionName,
    });
  app.get('/api/version', version);
  app.get('/api/ray/version', version);
  app.get('/api/authentication_mode', (c) => c.json({ authentication_mode: 'token' }));
  app.post('/api/authenticate', (c) => authenticate(c, deps.auth));
  for (const path of ['/api/gcs_healthz', '/api/healthz', '/api/local_raylet_healthz', '/-/healthz'])
    app.get(path, (c) => c.text('success'));
  app.get('/api/component_activities', (c) => c.json({ driver: driverActivity(deps) }));
}

function mountPackages(app: Hono<JobsEnv>, { packages }: JobsApiDeps): void {
  app.get(
    '/api/packages/:protocol/:name',
    route(async (c) => {
      const name = packageName(c);
      if (await packages.has(c.get('user').name, name)) return c.body(null, 200);
      return c.text(`Package gcs://${name} does not exist`, 404);
    }),
  );
  app.put(
    '/api/packages/:protocol/:name',
    route(async (c) => {
      const name = packageName(c);
      const { body } = c.req.raw;
      const bytes = body ? Readable.fromWeb(body) : Readable.from([]);
      // A client may break off before anybody reads: anyone who does then is told, and nobody else.
      bytes.on('error', () => {});
      await packages.put(c.get('user').name, name, bytes);
      return c.body(null, 200);
    }),
  );
}

function mountJobs(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  const { queue, store } = deps;
  app.post(
    '/api/jobs/',
    bodyLimit({
      maxSize: serverLimits.bodyBytes,
      onError: (c) => c.text(words.tooLarge(serverLimits.bodyBytes), 413),
    }),
    route(async (c) => {
      const job = await queue.submit(readSubmitRequest(await jsonBody(c), c.get('user').name));
      return c.json({ job_id: job.id, submission_id: job.id });
    }),
  );
  app.get('/api/jobs/', async (c) => {
    const [others, drivers] = await Promise.all([othersOf(deps), driversOf(deps)]);
    return c.body(inPieces(listing(store, drivers, others, c.get('user'))), 200, {
      'content-type': 'application/json; charset=utf-8',
    });
  });
  app.get(
    '/api/jobs/:id',
    route(async (c) => {
      const job = await find(c, deps);
      return c.json(jobDetails(job, isOwner(job, c.get('user')), await driverOf(job, deps)));
    }),
  );
  app.post(
    '/api/jobs/:id/stop',
    route(async (c) => {
      const job = await find(c, deps);
      requireOwner(job, c.get('user'), 'stop');
      const { stopped } = await queue.stop(job.id);
      return c.json({ stopped });
    }),
  );
  app.delete(
    '/api/jobs/:id',
    route(async (c) => {
      const job = await find(c, deps);
      requireOwner(job, c.get('user'), 'delete');
      if (!isOver(job.state))
        return c.text(
          `Attempted to delete job '${job.id}', but it is in a non-terminal state ${jobDetails(job, false)['status'] as string}.`,
          500,
        );
      await queue.delete(job.id);
      return c.json({ deleted: true });
    }),
  );
}

function mountLogs(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  app.get(
    '/api/jobs/:id/logs',
    route(async (c) => {
      const job = await find(c, deps);
      requireOwner(job, c.get('user'), 'read the output of');
      return c.body(inPieces(logsAsJson(deps, job)), 200, { 'content-type': 'application/json; charset=utf-8' });
    }),
  );
  app.get(
    '/api/jobs/:id/logs/tail',
    route(async (c) => {
      await find(c, deps);
      return c.text('No WebSocket UPGRADE hdr: None\n Can "Upgrade" only to "WebSocket".', 400);
    }),
  );
}

/** Answers a failure as Ray would. */
const route = (handler: (c: Context<JobsEnv>) => Promise<Response> | Response) => async (c: Context<JobsEnv>) => {
  try {
    return await handler(c);
  } catch (error) {
    return failure(c, error);
  }
};

async function find(c: Context, deps: JobsApiDeps): Promise<Job> {
  const id = c.req.param('id') ?? '';
  const job = await findJob(id, deps);
  if (!job) throw jobErrors.NotFound({ job: id.slice(0, 200) });
  return job;
}

function packageName(c: Context): string {
  const protocol = c.req.param('protocol') ?? '';
  if (protocol !== 'gcs') throw new NotSupported(`Protocol ${protocol.slice(0, 50)} is not supported`);
  return c.req.param('name') ?? '';
}

/** What Ray answers with 500, and its clients are used to. */
class NotSupported extends Error {}

async function jsonBody(c: Context): Promise<unknown> {
  try {
    return readOutsideJson(await c.req.text());
  } catch (error) {
    throw new BadRequest(`the request body is not JSON: ${(error as Error).message}`);
  }
}

const pieceLength = 64 << 10;

/**
 * The listing piece by piece: ten thousand jobs are some megabytes that need not be in memory at once, and a slow reader
 * keeps no job that is deleted meanwhile.
 */
async function* listing(
  store: JobStore,
  drivers: ReadonlyMap<string, Driver>,
  others: readonly OtherJob[],
  reader: User,
): AsyncGenerator<string> {
  const texts = function* (): Generator<string> {
    for (const id of [...store.jobs.keys()]) {
      const job = store.jobs.get(id);
      if (job) yield listedJob(job, isOwner(job, reader), drivers.get(id));
    }
    for (const job of others) yield listedOther(job, reader.admin);
  };
  let piece = '[';
  let separator = '';
  const slices = new Slices();
  for (const text of texts()) {
    if (slices.isOver) await slices.pause();
    piece += separator + text;
    separator = ',';
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]`;
}

/** `{"logs": "…"}` without holding the whole output in memory. */
async function* logsAsJson(deps: JobsApiDeps, job: Job): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  yield '{"logs":"';
  for await (const bytes of readJob(deps, job)) yield escaped(decoder.decode(bytes, { stream: true }));
  yield `${escaped(decoder.decode())}"}`;
}

/** A body that is made as fast as it is read. */
function inPieces(pieces: AsyncIterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(Buffer.from(value));
    },
  });
}

function driverActivity({ store, clock }: JobsApiDeps): Record<string, unknown> {
  const active = store.live.size;
  let last = 0;
  for (const job of store.jobs.values()) last = Math.max(last, job.endedAt ?? 0);
  return {
    is_active: active > 0 ? 'ACTIVE' : 'INACTIVE',
    reason: active > 0 ? `Number of active drivers: ${active}` : null,
    timestamp: clock.now() / 1_000,
    last_activity_at: last > 0 ? last / 1_000 : null,
  };
}

/** Ray's status for each kind of failure, in plain text; in Ray's words where its clients know them. */
function failure(c: Context, error: unknown): Response {
  const text = (error as Error).message;
  if (jobErrors.NotFound.is(error)) return c.text(words.notFound(error.data.job), 404);
  if (jobErrors.Exists.is(error)) return c.text(words.exists(error.data.job), 500);
  if (jobErrors.PackageTooLarge.is(error)) return c.text(words.tooLarge(error.data.limit), 413);
  if (
    error instanceof BadRequest ||
    jobErrors.Invalid.is(error) ||
    jobErrors.Infeasible.is(error) ||
    jobErrors.PackageName.is(error)
  )
    return c.text(text, 400);
  if (apiErrors.NotYours.is(error)) return c.text(`Forbidden: ${text}`, 403);
  if (jobErrors.QueueFull.is(error) || jobErrors.MemoryFull.is(error)) return c.text(text, 429);
  if (
    error instanceof NotSupported ||
    jobErrors.NotOver.is(error) ||
    jobErrors.Needed.is(error) ||
    databaseErrors.DiskFull.is(error)
  )
    return c.text(text, 500);
  throw error;
}
