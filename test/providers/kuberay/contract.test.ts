import { providerContract } from '../../contract/provider-contract.ts';
import { providerOf, standIn } from './kuberay-bed.ts';

const statuses = { throttled: 429, denied: 403 } as const;

providerContract(
  'kuberay',
  async (t) => {
    const world = await standIn(t, [{}, { groupName: 'slices', numOfHosts: 3 }]);
    const limit = (replicas: (hosts: number) => number): void =>
      world.edit(({ spec }) => {
        for (const group of spec.workerGroupSpecs) group.maxReplicas = replicas(group.numOfHosts);
      });
    return {
      type: 'worker',
      provider: () => {
        world.faults = {};
        return providerOf(t, world);
      },
      refusing: (kind) => {
        if (kind === 'throttled' || kind === 'denied') world.faults = { refuse: statuses[kind] };
        else limit(() => 0);
        return providerOf(t, world);
      },
      limited: (count) => {
        limit((hosts) => Math.floor(count / hosts));
        return providerOf(t, world);
      },
      losingAnswer: () => {
        world.faults = { loseAnswer: true };
        return providerOf(t, world);
      },
      refusingLate: (kind, detail) => {
        const words = { quota: `exceeded quota: ${detail}`, denied: detail, 'no-capacity': detail }[kind];
        world.faults = kind === 'no-capacity' ? { noRoom: words } : { notLetIn: words };
        return providerOf(t, world);
      },
    };
  },
  ['no-capacity', 'throttled', 'denied'],
  { addresses: ['inside'], late: true, slices: { type: 'slices', hosts: 3 } },
);
