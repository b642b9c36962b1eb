import { ownValue } from '../../base/own-value.ts';
import type { Resources } from '../resources.ts';
import type { Plain, PlainMap } from './cluster.ts';
import { isMap } from './source.ts';

/**
 * CPUs and GPUs of a machine as its name gives them away, for planning before the provider is asked. Memory is not
 * guessed. Undefined for names that say nothing.
 */
export function machineResources(provider: string, launch: PlainMap): Resources | undefined {
  if (provider === 'aws' || provider === 'aliyun') return textOf(launch.InstanceType, awsMachine);
  if (provider === 'gcp') return textOf(launch.machineType, (name) => gcpMachine(name, launch.guestAccelerators));
  if (provider === 'azure') {
    const parameters = isMap(launch.azure_arm_parameters) ? launch.azure_arm_parameters : {};
    return textOf(parameters.vmSize, azureMachine);
  }
  return undefined;
}

const textOf = (name: Plain | undefined, read: (name: string) => Resources | undefined): Resources | undefined =>
  typeof name === 'string' ? read(name.toLowerCase()) : undefined;

const withGpus = (cpus: number, gpus: number | undefined): Resources =>
  gpus ? { CPU: cpus, GPU: gpus } : { CPU: cpus };

/** GPUs by family and size, where a machine of the family has more than one. */
const awsGpus: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  p2: { '8xlarge': 8, '16xlarge': 16 },
  p3: { '8xlarge': 4, '16xlarge': 8 },
  p3dn: { '24xlarge': 8 },
  p4d: { '24xlarge': 8 },
  p4de: { '24xlarge': 8 },
  p5: { '48xlarge': 8 },
  p5e: { '48xlarge': 8 },
  p5en: { '48xlarge': 8 },
  g3: { '8xlarge': 2, '16xlarge': 4 },
  g3s: {},
  g4dn: { '12xlarge': 4, metal: 8 },
  g5: { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 },
  g6: { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 },
  g6e: { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 },
};

/** `m5.2xlarge`: `large` has two CPUs, and each `xlarge` four. */
function awsMachine(name: string): Resources | undefined {
  const match = /^(?:ecs\.)?([a-z0-9-]+)\.(?:(\d+)?(xlarge)|(large|medium|small|micro|nano))$/.exec(name);
  if (!match) return undefined;
  const [, family = '', times, xlarge, small] = match;
  const cpus = xlarge === undefined ? (small === 'large' || /^t[34]/.test(family) ? 2 : 1) : 4 * Number(times ?? 1);
  const gpus = Object.hasOwn(awsGpus, family) ? (ownValue(awsGpus, family)?.[`${times ?? ''}xlarge`] ?? 1) : undefined;
  return withGpus(cpus, gpus);
}

/** `n2-highmem-8`, `custom-6-16384`, `a2-highgpu-4g`. */
function gcpMachine(name: string, accelerators: Plain | undefined): Resources | undefined {
  const machine = name.slice(name.lastIndexOf('/') + 1);
  const a2 = /^a2-(?:high|ultra|mega)gpu-(\d+)g$/.exec(machine);
  if (a2) return withGpus(12 * Number(a2[1]), Number(a2[1]));
  const cpus =
    /^(?:[a-z][a-z0-9]*-)?custom-(\d+)-/.exec(machine)?.[1] ?? /^[a-z][a-z0-9]*-[a-z]+-(\d+)$/.exec(machine)?.[1];
  if (cpus === undefined) return undefined;
  const gpus = Array.isArray(accelerators)
    ? (accelerators as readonly Plain[]).reduce<number>(
        (sum, each) => sum + (isMap(each) ? Number(each.acceleratorCount ?? 0) || 0 : 0),
        0,
      )
    : 0;
  return withGpus(Number(cpus), gpus);
}

/** `Standard_D2s_v3`, `Standard_NC24rs_v3`: the number is that of the CPUs; N families have a GPU for every six or so. */
function azureMachine(name: string): Resources | undefined {
  const match = /^standard_([a-z]+)(\d+)/.exec(name);
  if (!match) return undefined;
  const cpus = Number(match[2]);
  return withGpus(
    cpus,
    /^n[cdv]/.test(match[1] as string) && cpus <= 24 ? Math.max(1, Math.floor(cpus / 6)) : undefined,
  );
}
