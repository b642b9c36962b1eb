import { providerContract } from '../../contract/provider-contract.ts';
import { badDay, onlyRoom, providerOf, standInCloud } from './cloud-bed.ts';

for (const [name, { settings, faults }] of [
  ['lab cloud', { settings: {}, faults: [] }],
  ['lab cloud on a bad day', badDay],
] as const)
  providerContract(name, async (t) => {
    const served = await standInCloud(t, { settings });
    const { cloud } = served;
    for (const rule of faults) cloud.faults.add(rule);
    return {
      type: 'worker',
      provider: () => providerOf(served),
      refusing: (kind) => {
        cloud.faults.add({ fault: kind === 'throttled' ? 'throttle' : kind, call: 'launch', times: 1 });
        return providerOf(served);
      },
      limited: (count) => {
        cloud.settings = { ...cloud.settings, capacity: onlyRoom(count) };
        return providerOf(served);
      },
      losingAnswer: () => {
        cloud.faults.add({ fault: 'lost-answer', call: 'launch', times: 1 });
        return providerOf(served);
      },
    };
  });
