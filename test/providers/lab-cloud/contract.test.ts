import { providerContract } from '../../contract/provider-contract.ts';
import { badDay, onlyRoom, providerOf, standInCloud } from './cloud-bed.ts';

for (const [name, { settings, faults }] of [
  ['lab cloud', { settings: {}, faults: [] }],
  ['lab cloud on a bad day', badDay],
] as const)
  providerContract(
    name,
    async (t) => {
      const served = { ...(await standInCloud(t, { settings })), keepsStopped: true };
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
        refusingLate: (kind, message) => {
          const code = kind === 'denied' ? 'key' : kind;
          cloud.faults.add({ fault: 'late-refusal', times: 1, seconds: 0.02, code, message });
          return providerOf(served);
        },
        beyondQuota: (closes) => {
          cloud.settings = {
            ...cloud.settings,
            quotas: { ...cloud.settings.quotas, ...(closes === 'project' ? { instances: 0 } : { cpus_on_demand: 0 }) },
          };
          return providerOf(served);
        },
      };
    },
    undefined,
    { addresses: ['inside'], late: true, quotas: ['region', 'project'], slices: true, stops: true },
  );
