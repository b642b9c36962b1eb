/** Quotas of Compute Engine: by region or for the whole project, each with what counts against it. */
import type { CloudError, QuotaName } from '../../cloud/errors.ts';
import type { CloudInstance } from '../../cloud/instance.ts';
import { regionOfZone } from '../names.ts';
import type { OperationError } from '../operations.ts';
import type { Project, QuotaLimit } from '../project.ts';
import type { GoogleWorld } from '../world.ts';

/** Metrics that a region shows whether anybody has set a limit or not, with what is usual. */
const usual: Readonly<Record<string, number>> = {
  ...{ CPUS: 10_000, N2_CPUS: 10_000, N2D_CPUS: 10_000, C2_CPUS: 10_000, C3_CPUS: 10_000, A2_CPUS: 10_000 },
  ...{ PREEMPTIBLE_CPUS: 10_000, INSTANCES: 10_000, IN_USE_ADDRESSES: 10_000 },
  ...{ DISKS_TOTAL_GB: 1_000_000, SSD_TOTAL_GB: 1_000_000 },
  ...{ NVIDIA_T4_GPUS: 1000, NVIDIA_V100_GPUS: 1000, NVIDIA_P100_GPUS: 1000, NVIDIA_A100_GPUS: 1000 },
  ...{ PREEMPTIBLE_NVIDIA_T4_GPUS: 1000, PREEMPTIBLE_NVIDIA_V100_GPUS: 1000, PREEMPTIBLE_NVIDIA_A100_GPUS: 1000 },
};
const usualEverywhere: Readonly<Record<string, number>> = { CPUS_ALL_REGIONS: 100_000, GPUS_ALL_REGIONS: 1000 };

/** Those that count: what is stopped holds disks alone. */
const holds = ({ now }: CloudInstance): boolean => now.state !== 'stopped' && now.refused === undefined;

function used(world: GoogleWorld, project: Project, metric: string, fits: (zone: string) => boolean): number {
  return world.cloud
    .existing(project.id)
    .filter((instance) => fits(instance.zone) && (holds(instance) || metric.endsWith('_TOTAL_GB')))
    .reduce((sum, instance) => sum + (world.facts(instance)?.usage[metric] ?? 0), 0);
}

const within =
  ({ region, zone }: Pick<QuotaLimit, 'region' | 'zone'>) =>
  (each: string): boolean =>
    zone === undefined ? region === undefined || regionOfZone(each) === region : each === zone;

/** How many such machines the project may still have in a zone, and what limits them most. */
export function allowedMachines(
  world: GoogleWorld,
  project: Project,
  zone: string,
  usage: Readonly<Record<string, number>>,
): { readonly count: number; readonly limit?: QuotaLimit } {
  let least: { count: number; limit?: QuotaLimit } = { count: Number.POSITIVE_INFINITY };
  for (const limit of project.quotas) {
    const each = usage[limit.metric] ?? 0;
    if (each === 0 || !within(limit)(zone)) continue;
    const count = Math.max(0, Math.floor((limit.limit - used(world, project, limit.metric, within(limit))) / each));
    if (count < least.count) least = { count, limit };
  }
  return least;
}

export function quotaError({ metric, limit, region, zone }: QuotaLimit): OperationError {
  const where = zone !== undefined ? `in zone ${zone}` : region !== undefined ? `in region ${region}` : 'globally';
  return {
    code: 'QUOTA_EXCEEDED',
    message: `Quota '${metric}' exceeded.  Limit: ${limit.toFixed(1)} ${where}.`,
    errorDetails: [
      {
        quotaInfo: {
          metricName: `compute.googleapis.com/${metric.toLowerCase()}`,
          limitName: `${metric.replaceAll('_', '-')}-per-project${region === undefined ? '' : '-region'}`,
          dimensions: zone !== undefined ? { zone } : region !== undefined ? { region } : { global: 'global' },
          limit,
        },
      },
    ],
  };
}

const metrics: Readonly<Record<QuotaName, string>> = {
  instances: 'INSTANCES',
  cpus_on_demand: 'CPUS',
  cpus_spot: 'PREEMPTIBLE_CPUS',
  disk_gib: 'DISKS_TOTAL_GB',
};

/** A quota of the cloud itself, or one that a fault stands for. */
export function quotaOfCloud(world: GoogleWorld, error: CloudError, zone: string): OperationError {
  const metric = metrics[error.quota ?? 'cpus_on_demand'];
  const limit = (error.quota && world.cloud.settings.quotas[error.quota]) ?? 0;
  const made = quotaError({ metric, limit, region: regionOfZone(zone) });
  return error.quota === undefined ? { ...made, message: `${made.message} (${error.message})` } : made;
}

/** As a region, or a project, shows them. */
export function writeQuotas(world: GoogleWorld, project: Project, region: string | undefined): readonly object[] {
  const own = project.quotas.filter((each) => each.region === region && each.zone === undefined);
  const limits = new Map(Object.entries(region === undefined ? usualEverywhere : usual));
  for (const { metric, limit } of own) limits.set(metric, limit);
  return [...limits].map(([metric, limit]) => ({
    metric,
    limit,
    usage: used(world, project, metric, within(region === undefined ? {} : { region })),
  }));
}
