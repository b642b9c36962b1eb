// needs: openssl, google-discovery

import type { GoogleProvider } from '../../../src/providers/google/provider.ts';
import { providerContract } from '../../contract/provider-contract.ts';
import { badDay } from '../lab-cloud/cloud-bed.ts';
import { clusterText, providerOf, region, standInGoogle, zone } from './google-bed.ts';

const text = clusterText({ provider: ['cache_stopped_nodes: true'] });
/** Machines that are refused late are refused after this: launches have stopped to wait by then. */
const launchWait = 200;

for (const [name, { settings, faults }] of [
  ['Google', { settings: {}, faults: [] }],
  ['Google on a bad day', { settings: { ...badDay.settings, page_size: 5 }, faults: badDay.faults }],
] as const)
  providerContract(
    name,
    async (t) => {
      const google = await standInGoogle(t, { settings });
      const provider = (): GoogleProvider => providerOf(google, { text, launchWait });
      const { cloud, project } = google;
      for (const rule of faults) cloud.faults.add(rule);
      return {
        type: 'worker',
        provider,
        refusing: (kind) => {
          const call = 'instances.bulkInsert';
          if (kind === 'throttled') cloud.faults.add({ fault: 'throttle', call, times: 1 });
          else if (kind === 'denied')
            cloud.faults.add({ fault: 'refuse', call, code: 'forbidden', message: kind, times: 1 });
          else cloud.faults.add({ fault: kind, call: 'launch', times: 1 });
          return provider();
        },
        limited: (limit) => {
          cloud.settings = { ...cloud.settings, capacity: [{ limit }] };
          return provider();
        },
        losingAnswer: () => {
          cloud.faults.add({ fault: 'lost-answer', call: 'instances.bulkInsert', times: 1 });
          return provider();
        },
        refusingLate: (kind, message) => {
          const codes = { 'no-capacity': 'STOCKOUT', quota: 'quota', denied: 'PERMISSIONS_ERROR' } as const;
          cloud.faults.add({ fault: 'late-refusal', times: 1, seconds: 0.5, code: codes[kind], message });
          return provider();
        },
        beyondQuota: (closes) => {
          const where = closes === 'zone' ? { zone } : closes === 'region' ? { region } : {};
          project.quotas.push({ metric: 'CPUS_ALL_REGIONS', limit: 1, ...where });
          return provider();
        },
      };
    },
    undefined,
    {
      addresses: ['inside', 'outside'],
      late: true,
      quotas: ['zone', 'region', 'project'],
      stops: true,
      slices: { type: 'slice', hosts: 2 },
    },
  );
