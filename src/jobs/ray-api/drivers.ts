import type { Job } from '../../core/jobs/job.ts';
import type { Driver } from '../../engines/runner.ts';
import type { JobsApiDeps } from '../api.ts';

type DriverDeps = Pick<JobsApiDeps, 'store' | 'drivers' | 'driverOf'>;

/** The engine is asked when somebody asks here, who does not wait long for it. */
const answersWithin = 2_000;
/** Clients ask for a job that runs again and again. */
const holdsFor = 1_000;

const asked = new WeakMap<Job, { readonly at: number; readonly driver: Promise<Driver | undefined> }>();

/** The program of a job that joined the engine's cluster last: as journalled with its end, before that as the engine says. */
export async function driverOf(job: Job, deps: DriverDeps): Promise<Driver | undefined> {
  const attempt = job.attempts.at(-1);
  if (attempt?.driver || attempt?.startedAt === undefined || attempt.cause !== undefined) return attempt?.driver;
  const before = asked.get(job);
  if (before && performance.now() - before.at < holdsFor) return before.driver;
  const driver = find(nameOf(attempt), deps).then((found) => found?.driver);
  asked.set(job, { at: performance.now(), driver });
  return driver;
}

/** The same of all that run, by job. None where the engine does not answer in time. */
export async function driversOf(deps: DriverDeps): Promise<ReadonlyMap<string, Driver>> {
  const byName = await deps.drivers?.(AbortSignal.timeout(answersWithin)).catch(() => undefined);
  if (!byName) return new Map();
  return new Map(
    [...deps.store.live.values()].flatMap((job): [string, Driver][] => {
      const attempt = job.attempts.at(-1);
      const driver = attempt && byName.get(nameOf(attempt));
      return driver ? [[job.id, driver]] : [];
    }),
  );
}

const driverId = /^[0-9a-f]{8}$/;

/** The job of this id, or else the one whose program has it. */
export async function findJob(id: string, deps: DriverDeps): Promise<Job | undefined> {
  const job = deps.store.jobs.get(id);
  if (job || !driverId.test(id)) return job;
  const name = (await find(id, deps))?.submission;
  const jobs = [...deps.store.jobs.values()];
  // What is journalled may be of an earlier Ray, whose ids were the same: the last of them is meant.
  return (
    jobs.find(({ attempts }) => attempts.some((attempt) => nameOf(attempt) === name)) ??
    jobs.findLast(({ attempts }) => attempts.some(({ driver }) => driver?.id === id))
  );
}

const nameOf = ({ id, submission }: Job['attempts'][number]): string => submission ?? id;

async function find(id: string, { driverOf: ask }: DriverDeps) {
  return await ask?.(id, AbortSignal.timeout(answersWithin)).catch(() => undefined);
}
