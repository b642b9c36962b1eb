import type { ScenarioCluster, TypeFile } from '../scenario/scenario-file.ts';

const GiB = 1024 ** 3;

/** Machine shapes as a large cloud sells them: list prices per hour; spot at about a third. */
function machine(cpus: number, memory: number, price: number, gpus = 0): TypeFile {
  return {
    resources: { CPU: cpus, memory: Math.floor(memory * GiB * 0.7), ...(gpus > 0 ? { GPU: gpus } : {}) },
    price,
    zones: ['a', 'b', 'c'],
    market: 'on-demand',
  };
}

export const machines = {
  'm5.xlarge': machine(4, 16, 0.192),
  'm5.2xlarge': machine(8, 32, 0.384),
  'm5.4xlarge': machine(16, 64, 0.768),
  'c5.2xlarge': machine(8, 16, 0.34),
  'c5.4xlarge': machine(16, 32, 0.68),
  'c5.9xlarge': machine(36, 72, 1.53),
  'r5.2xlarge': machine(8, 64, 0.504),
  'r5.4xlarge': machine(16, 128, 1.008),
  'g4dn.xlarge': machine(4, 16, 0.526, 1),
  'g5.xlarge': machine(4, 16, 1.006, 1),
  'g5.12xlarge': machine(48, 192, 5.672, 4),
  'p3.8xlarge': machine(32, 244, 12.24, 4),
} satisfies Record<string, TypeFile>;

export type MachineName = keyof typeof machines;

export const onDemand = (name: MachineName, more: Partial<TypeFile> = {}): TypeFile => ({ ...machines[name], ...more });

export const spot = (name: MachineName, more: Partial<TypeFile> = {}): TypeFile => ({
  ...machines[name],
  market: 'spot',
  price: Math.round((machines[name].price ?? 0) * 350) / 1000,
  ...more,
});

/** A cluster with a head that runs no work, Ray's default idle timeout and upscaling speed. */
export function cluster(maxWorkers: number, types: Record<string, TypeFile>): ScenarioCluster {
  return {
    maxWorkers,
    idleTimeout: '5m',
    upscalingSpeed: 1,
    head: 'head',
    types: { head: { ...machines['m5.xlarge'], resources: {}, max: 0 }, ...types },
  };
}

/** Boot of 60 to 180 s with setup, as measured on large clouds with a baked image. */
export const usualCloud = {
  boot: { median: '45s', p95: '75s' },
  setup: { median: '40s', p95: '80s' },
  latency: { min: '500ms', max: '3s' },
} as const;
