import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import type { Clock, Duration } from '../base/clock.ts';
import { type AuthDeps, guard, type JobsEnv } from './auth.ts';
import type { LogStore } from './log-store.ts';
import { mountMantaApi } from './manta-api/routes.ts';
import type { PackageStore } from './packages.ts';
import type { JobQueue } from './queue.ts';
import type { OtherJob } from './ray-api/details.ts';
import { mountRayApi } from './ray-api/routes.ts';
import { makeTailUpgrade } from './ray-api/tail.ts';
import { shareMemory } from './shares.ts';
import type { JobStore } from './store.ts';
import type { Users } from './users.ts';

export interface JobsApiDeps {
  readonly queue: JobQueue;
  readonly store: JobStore;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  readonly users: Users;
  readonly clock: Clock;
  readonly auth: AuthDeps;
  /** A version that exists: Ray's clients parse it and refuse what they do not know. */
  readonly rayVersion: string;
  readonly rayCommit: string;
  readonly sessionName: string;
  /** Jobs of the engine that were not submitted here. Absent: there can be none. */
  readonly others?: (signal: AbortSignal) => Promise<readonly OtherJob[]>;
  /** Between two pings on a followed log. @default 20 s */
  readonly pingEvery?: Duration;
}

/** Puts authentication in front of every route of the app, and both jobs APIs behind it. Call before other routes are added. */
export function mountJobsApi(app: Hono<JobsEnv>, deps: JobsApiDeps): void {
  app.use('*', guard(deps.auth));
  app.use('*', shareMemory());
  mountRayApi(app, deps);
  mountMantaApi(app, deps);
}

/** For the server's `upgrade` event. False: no route of the jobs layer, and the socket is untouched. */
export function makeUpgradeHandler(
  deps: JobsApiDeps,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean {
  return makeTailUpgrade(deps);
}
