import type { TestContext } from 'node:test';
import { Cloud, type CloudOptions } from '../../../lab/cloud/cloud.ts';
import type { FaultRule } from '../../../lab/cloud/faults.ts';
import type { Hypervisor, MachineOrder } from '../../../lab/cloud/hypervisor.ts';
import { type ServedCloud, serveCloud } from '../../../lab/cloud/open.ts';
import type { CapacityRule, Settings } from '../../../lab/cloud/settings.ts';
import { type LabCloudOptions, LabCloudProvider } from '../../../src/providers/lab-cloud/provider.ts';

/** What may go wrong on every call without the contract being touched. */
export const badDay: { readonly settings: Partial<Settings>; readonly faults: readonly FaultRule[] } = {
  settings: { latency_ms: [0, 5], boot_s: [0, 0.05], terminate_s: [0, 0.05], list_lag_s: 0.1, page_size: 1 },
  faults: [
    { fault: 'duplicate-call', rate: 0.5 },
    { fault: 'duplicate-entry', rate: 0.5 },
    { fault: 'late-request', rate: 0.2, seconds: 0.02 },
    { fault: 'late-answer', rate: 0.2, seconds: 0.02 },
    { fault: 'slow-boot', rate: 0.5, seconds: 0.1 },
  ],
};

/** So many small machines in one zone, and nothing elsewhere. */
export const onlyRoom = (limit: number): readonly CapacityRule[] => [
  { zone: 'lab-1a', limit },
  ...['lab-1b', 'lab-1c', 'lab-2a'].map((zone) => ({ zone, limit: 0 })),
];

export interface Reached {
  readonly endpoint: string;
  readonly token: string;
  /** @default false */
  readonly keepsStopped?: boolean;
}

/** A provider of one cluster; the account may have others. */
export function providerOf(at: Reached, more: Partial<LabCloudOptions> = {}): LabCloudProvider {
  return new LabCloudProvider({
    spec: () => ({
      endpoint: at.endpoint,
      token: { env: 'UNUSED' },
      zones: [],
      keepsStopped: at.keepsStopped ?? false,
      types: new Map([
        ['worker', { machineType: 'small' }],
        ['big', { machineType: 'large', zone: 'lab-1b' }],
      ]),
    }),
    token: () => at.token,
    cluster: 'bed',
    clusterId: 'c-1',
    login: () => ({ user: 'ubuntu', publicKey: 'ssh-ed25519 AAAA test' }),
    ...more,
  });
}

/** Machines that are nothing but their order. */
export class StandInHypervisor implements Hypervisor {
  readonly orders: MachineOrder[] = [];
  readonly up = new Set<string>();
  #count = 0;

  make(order: MachineOrder) {
    this.orders.push(order);
    const address = `10.0.0.${++this.#count}`;
    return Promise.resolve({
      address,
      boot: async () => void this.up.add(order.instance),
      kill: async () => void this.up.delete(order.instance),
      discard: async () => void this.up.delete(order.instance),
      console: () => `${order.instance} said this`,
    });
  }
}

export async function standInCloud(
  t: TestContext,
  options: Omit<CloudOptions, 'hypervisor'> = {},
): Promise<ServedCloud & { readonly hypervisor: StandInHypervisor; readonly cloud: Cloud }> {
  const hypervisor = new StandInHypervisor();
  const cloud = new Cloud({ ...options, hypervisor });
  const served = await serveCloud(cloud);
  t.after(() => served.close());
  return { ...served, hypervisor, cloud };
}
