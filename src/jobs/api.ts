import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import type { Clock, Duration } from '../base/time/clock.ts';
import type { Driver } from '../engines/runner.ts';
import type { LogStore } from './logs/log-store.ts';
import { mountMantaApi } from './manta-api/routes.ts';
import type { PackageStore } from './packages/packages.ts';
import type { JobQueue } from './queue/queue.ts';
import { shareMemory } from './queue/shares.ts';
import type { JobStore } from './queue/store.ts';
import type { OtherJob } from './ray-api/details.ts';
import { mountRayApi } from './ray-api/routes.ts';
import { makeTailUpgrade } from './ray-api/tail.ts';
import { type AuthDeps, guard, type JobsEnv } from './users/auth.ts';
import type { Users } from './users/users.ts';

export interface JobsApiDeps {
  readonly queue: JobQueue;
  readonly store: JobStore;
  readonly logs: LogStore;
  readonly packages: PackageStore;
  readonly users: Users;
  readonly clock: Clock;
  readonly auth: AuthDeps;
  /** The Ray that runs, or whose API is spoken. One that exists: Ray's clients parse it and refuse what they do not know. */
  readonly ray: { readonly version: string; readonly commit: string };
  readonly sessionName: string;
  /** Jobs of the engine that were not submitted here. Absent: there can be none. */
  readonly others?: (signal: AbortSignal) => Promise<readonly OtherJob[]>;
  /** Programs that joined the engine's cluster, by its names of the attempts that started them. Absent: there are none. */
  readonly drivers?: (signal: AbortSignal) => Promise<ReadonlyMap<string, Driver>>;
  /** The same of one, by that name or by the program's own id. */
  readonly driverOf?: (
    id: string,
    signal: AbortSignal,
  ) => Promise<{ readonly submission: string; readonly driver: Driver } | undefined>;
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
