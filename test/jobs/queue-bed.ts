import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../src/base/events.ts';
import { type Database, openDatabase } from '../../src/base/sqlite/sqlite.ts';
import type { Clock } from '../../src/base/time/clock.ts';
import type { Capacity } from '../../src/core/jobs/admit.ts';
import { defaultLimits, type Limits } from '../../src/core/jobs/choose.ts';
import type { Runner } from '../../src/engines/runner.ts';
import { type LogStore, openLogStore } from '../../src/jobs/logs/log-store.ts';
import { type PackageLimits, PackageStore, type PackageStoreOptions } from '../../src/jobs/packages/packages.ts';
import { JobQueue } from '../../src/jobs/queue/queue.ts';
import { jobsSchema } from '../../src/jobs/queue/schema.ts';
import { type JobStore, openJobStore } from '../../src/jobs/queue/store.ts';
import { Users } from '../../src/jobs/users/users.ts';

/** A whole jobs layer in a folder of its own, which can crash and come back. */
export interface Bed {
  readonly folder: string;
  database: Database;
  store: JobStore;
  logs: LogStore;
  packages: PackageStore;
  users: Users;
  queue: JobQueue;
  limits: Limits;
  types: readonly Capacity[];
  /** As after kill -9: nothing is said goodbye to, memory is gone, the files are as they are. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

export interface BedOptions {
  readonly clock: Clock;
  readonly runner: Runner;
  readonly limits?: Partial<Limits>;
  readonly types?: readonly Capacity[];
  readonly packageLimits?: PackageLimits;
  readonly request?: PackageStoreOptions['request'];
  /** @default true */
  readonly run?: boolean;
}

export async function makeBed(options: BedOptions): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-jobs-'));
  const { clock } = options;
  let ids = 0;
  const open = async (bed: Bed): Promise<void> => {
    bed.database = openDatabase(join(folder, 'journal.db'), [jobsSchema]);
    bed.store = openJobStore(bed.database);
    bed.logs = openLogStore(join(folder, 'logs'), () => clock.now());
    bed.packages = new PackageStore({
      database: bed.database,
      folder: join(folder, 'packages'),
      clock,
      ...(options.packageLimits && { limits: options.packageLimits }),
      ...(options.request && { request: options.request }),
    });
    bed.users = new Users(bed.database, clock);
    bed.queue = new JobQueue({
      store: bed.store,
      logs: bed.logs,
      packages: bed.packages,
      runner: options.runner,
      clock,
      events: silent,
      limits: () => bed.limits,
      capacity: () => ({ types: bed.types }),
      newId: () => `job${++ids}`,
      baseEnv: { HOME: '/home/ray' },
    });
    if (options.run ?? true) await bed.queue.run();
  };
  const bed = {
    folder,
    limits: { ...defaultLimits, ...options.limits },
    types: options.types ?? [],
    async crash() {
      await bed.queue.close();
      bed.database.close();
      await open(bed);
    },
    async remove() {
      await bed.queue.close();
      bed.database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  } as unknown as Bed;
  await open(bed);
  return bed;
}
