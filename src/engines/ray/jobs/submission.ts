import { shellQuoted } from '../../../base/shell/shell-quote.ts';
import { plus } from '../../../core/placement/booking.ts';
import type { Resources } from '../../../core/resources.ts';
import type { AttemptOrder } from '../../runner.ts';
import type { RayPackages } from './packages.ts';

/** Body of Ray's `POST /api/jobs/`. */
export interface RayJobBody {
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
 * and what it needs of the others it asks of Ray itself. The runtime environment is the job's own and nothing besides:
 * drivers may set what it does not name, and only that.
 */
export async function submissionOf(
  name: string,
  order: AttemptOrder,
  packages: RayPackages,
  signal: AbortSignal,
): Promise<RayJobBody> {
  const modules: string[] = [];
  for (const { kind, path } of order.setup) {
    if (path === undefined) continue;
    if (kind === 'python-path') modules.push(await packages.folder(path, signal));
    else modules.push(kind === 'remote' ? path : await packages.wheel(path, signal));
  }
  return {
    submission_id: name,
    entrypoint: entrypointOf(order),
    runtime_env: {
      ...order.environment,
      ...(Object.keys(order.env).length === 0 ? {} : { env_vars: order.env }),
      ...(order.workingDir === undefined ? {} : { working_dir: await packages.folder(order.workingDir, signal) }),
      ...(modules.length === 0 ? {} : { py_modules: modules }),
    },
    metadata: metadataOf(order),
    ...resourcesOf(plus(order.gang?.bundles[0] ?? {}, order.resources)),
    ...(Object.keys(order.labels).length === 0 ? {} : { entrypoint_label_selector: order.labels }),
  };
}

/**
 * Ray keeps two keys of its own there, and takes them from users too: by `job_submission_id` a driver would be shown under
 * the job of another user. The default of `job_name` is the name of the submission, which later attempts do not share.
 */
function metadataOf({ job, metadata }: AttemptOrder): Record<string, string> {
  const { job_submission_id: _, ...rest } = metadata;
  return { ...rest, job_name: job };
}

/** What Ray runs: the entrypoint, told in its own shell what Manta has to tell it. */
export function entrypointOf({ own, entrypoint }: AttemptOrder): string {
  const words = Object.entries(own).map(([name, value]) => `${name}=${shellQuoted(value)}`);
  return words.length === 0 ? entrypoint : `export ${words.join(' ')}; ${entrypoint}`;
}

/** The name that an attempt has at Ray unless that is taken: of the first the job's own, which its driver then sees. */
export const wantedName = ({ id, job, number }: AttemptOrder): string => (number === 1 ? job : id);

function resourcesOf(resources: Resources): Partial<RayJobBody> {
  const { CPU = 0, GPU = 0, memory = 0, ...others } = resources;
  const custom = Object.entries(others).filter(([, amount]) => amount > 0);
  return {
    ...(CPU > 0 ? { entrypoint_num_cpus: CPU } : {}),
    ...(GPU > 0 ? { entrypoint_num_gpus: GPU } : {}),
    ...(memory > 0 ? { entrypoint_memory: Math.ceil(memory) } : {}),
    ...(custom.length > 0 ? { entrypoint_resources: Object.fromEntries(custom) } : {}),
  };
}
