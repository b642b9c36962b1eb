import type { Duration } from '../../base/clock.ts';
import type { Resources } from '../../core/resources.ts';
import { plus } from '../embedded/booking.ts';
import type { AttemptOrder } from '../runner.ts';
import type { RayPackages } from './packages.ts';

/** Body of Ray's `POST /api/jobs/`. */
export interface Submission {
  readonly submission_id: string;
  readonly entrypoint: string;
  readonly runtime_env: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly entrypoint_num_cpus?: number;
  readonly entrypoint_num_gpus?: number;
  readonly entrypoint_memory?: number;
  readonly entrypoint_resources?: Readonly<Record<string, number>>;
  readonly entrypoint_label_selector?: Readonly<Record<string, string>>;
}

/**
 * An order in Ray's words. Ray's jobs API knows no gangs: the entrypoint gets the first bundle, beside its own resources,
 * and what it needs of the others it asks of Ray itself.
 */
export async function submissionOf(
  name: string,
  order: AttemptOrder,
  packages: RayPackages,
  longestGrace: Duration,
  signal: AbortSignal,
): Promise<Submission> {
  const modules: string[] = [];
  const pip: string[] = [];
  const uv: string[] = [];
  for (const { kind, packages: names = [], path } of order.setup) {
    if (kind === 'python-path' && path !== undefined) modules.push(await packages.folder(path, signal));
    for (const name of names) {
      if (name.startsWith('/') && name.endsWith('.whl')) modules.push(await packages.wheel(name, signal));
      else (kind === 'uv' ? uv : pip).push(name);
    }
  }
  const env: Record<string, string> = {
    ...order.env,
    // Ray kills by itself after this long; when to, is decided at the stop, and earlier.
    RAY_JOB_STOP_WAIT_TIME_S: String(Math.ceil(longestGrace / 1000)),
  };
  return {
    submission_id: name,
    entrypoint: order.entrypoint,
    runtime_env: {
      env_vars: env,
      ...(order.workingDir === undefined ? {} : { working_dir: await packages.folder(order.workingDir, signal) }),
      ...(modules.length === 0 ? {} : { py_modules: modules }),
      ...(pip.length === 0 ? {} : { pip }),
      ...(uv.length === 0 ? {} : { uv }),
    },
    metadata: { job_name: order.job },
    ...resourcesOf(plus(order.gang?.bundles[0] ?? {}, order.resources)),
    ...(Object.keys(order.labels).length === 0 ? {} : { entrypoint_label_selector: order.labels }),
  };
}

function resourcesOf(resources: Resources): Partial<Submission> {
  const { CPU = 0, GPU = 0, memory = 0, ...others } = resources;
  const custom = Object.entries(others).filter(([, amount]) => amount > 0);
  return {
    ...(CPU > 0 ? { entrypoint_num_cpus: CPU } : {}),
    ...(GPU > 0 ? { entrypoint_num_gpus: GPU } : {}),
    ...(memory > 0 ? { entrypoint_memory: Math.ceil(memory) } : {}),
    ...(custom.length > 0 ? { entrypoint_resources: Object.fromEntries(custom) } : {}),
  };
}
