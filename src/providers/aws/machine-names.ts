import { ownValue } from '../../base/own-value.ts';
import type { Resources } from '../../core/resources.ts';
import type { PlainMap } from '../../core/spec/cluster.ts';
import { likelyByName, withGpus } from '../not-run/machine-names.ts';

/** What an instance type gives away by its name. */
export const awsResources = (launch: PlainMap): Resources | undefined => likelyByName(launch.InstanceType, awsMachine);

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
  'p6-b200': { '48xlarge': 8 },
  'p6-b300': { '48xlarge': 8 },
  'p6e-gb200': { '36xlarge': 4 },
  g2: { '8xlarge': 4 },
  g3: { '8xlarge': 2, '16xlarge': 4 },
  g3s: {},
  g4dn: { '12xlarge': 4, metal: 8 },
  g4ad: { '8xlarge': 2, '16xlarge': 4 },
  g5g: { '16xlarge': 2 },
  g5: { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 },
  g6: { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 },
  g6e: { '12xlarge': 4, '24xlarge': 4, '48xlarge': 8 },
  g6f: {},
  gr6: {},
  gr6f: {},
  g7: { '12xlarge': 2, '24xlarge': 4, '48xlarge': 8 },
  g7e: { '12xlarge': 2, '24xlarge': 4, '48xlarge': 8 },
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
