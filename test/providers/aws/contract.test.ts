// needs: botocore

import type { AwsProvider } from '../../../src/providers/aws/provider.ts';
import { providerContract } from '../../contract/provider-contract.ts';
import { badDay } from '../lab-cloud/cloud-bed.ts';
import { clusterText, providerOf, standInAws } from './aws-bed.ts';

const text = clusterText({ provider: ['cache_stopped_nodes: true'] });

for (const [name, { settings, faults }] of [
  ['AWS', { settings: {}, faults: [] }],
  ['AWS on a bad day', { settings: { ...badDay.settings, page_size: 5, tag_lag_s: 0.1 }, faults: badDay.faults }],
] as const)
  providerContract(
    name,
    async (t) => {
      const provider = (): AwsProvider => providerOf(aws, { text });
      const aws = await standInAws(t, { settings });
      const { cloud } = aws;
      for (const rule of faults) cloud.faults.add(rule);
      return {
        type: 'worker',
        provider,
        refusing: (kind) => {
          const codes = { 'no-capacity': 'InsufficientInstanceCapacity', quota: 'VcpuLimitExceeded' } as const;
          if (kind === 'throttled') cloud.faults.add({ fault: 'throttle', call: 'RunInstances', times: 1 });
          else {
            const code = kind === 'denied' ? 'UnauthorizedOperation' : codes[kind];
            cloud.faults.add({ fault: 'refuse', call: 'RunInstances', code, message: kind, times: 1 });
          }
          return provider();
        },
        limited: (limit) => {
          cloud.settings = { ...cloud.settings, capacity: [{ limit }] };
          return provider();
        },
        losingAnswer: () => {
          cloud.faults.add({ fault: 'lost-answer', call: 'RunInstances', times: 1 });
          return provider();
        },
        refusingLate: (kind, message) => {
          const code = kind === 'denied' ? 'key' : kind;
          cloud.faults.add({ fault: 'late-refusal', times: 1, seconds: 0.02, code, message });
          return provider();
        },
        beyondQuota: () => {
          cloud.faults.add({
            fault: 'refuse',
            call: 'RunInstances',
            code: 'VcpuLimitExceeded',
            message: 'quota',
            times: 1,
          });
          return provider();
        },
      };
    },
    undefined,
    { addresses: ['inside', 'outside'], late: true, quotas: ['region'], stops: true },
  );
