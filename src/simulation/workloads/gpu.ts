import type { ScenarioFile } from '../scenario/scenario-file.ts';
import { cluster, onDemand, usualCloud } from './catalog.ts';

/** Accelerators and gangs. */
export const gpuWorkloads: readonly ScenarioFile[] = [
  {
    name: 'gpu-mix',
    summary: 'preprocessing on CPUs and inference on one GPU each, side by side',
    cluster: cluster(40, {
      'g5.12xlarge': onDemand('g5.12xlarge', { max: 6 }),
      'g5.xlarge': onDemand('g5.xlarge', { max: 20 }),
      'g4dn.xlarge': onDemand('g4dn.xlarge', { max: 20 }),
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 20 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 20 }),
    }),
    cloud: usualCloud,
    work: [
      { tasks: 160, needs: { CPU: 1 }, duration: { min: '2m', max: '5m' }, over: '20m' },
      { tasks: 60, needs: { CPU: 1, GPU: 1 }, duration: { min: '3m', max: '8m' }, at: '2m', over: '20m' },
    ],
  },
  {
    name: 'gang-training',
    summary: 'placement groups of four and eight GPU workers, one after another, each all or nothing',
    cluster: cluster(30, {
      'g5.xlarge': onDemand('g5.xlarge', { max: 16 }),
      'g5.12xlarge': onDemand('g5.12xlarge', { max: 4 }),
      'g4dn.xlarge': onDemand('g4dn.xlarge', { max: 16 }),
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 10 }),
    }),
    cloud: usualCloud,
    work: [
      {
        gangs: 2,
        bundles: Array.from({ length: 4 }, () => ({ CPU: 3, GPU: 1 })),
        strategy: 'PACK',
        duration: { min: '10m', max: '15m' },
        over: '5m',
      },
      {
        gangs: 1,
        bundles: Array.from({ length: 8 }, () => ({ CPU: 2, GPU: 1 })),
        strategy: 'STRICT_SPREAD',
        duration: '12m',
        at: '25m',
      },
      { tasks: 60, needs: { CPU: 1 }, duration: { min: '1m', max: '3m' }, at: '3m', over: '20m' },
    ],
  },
  {
    name: 'gang-cpu',
    summary: 'many small gangs of CPU workers that start over half an hour',
    cluster: cluster(40, {
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 20 }),
      'm5.xlarge': onDemand('m5.xlarge', { max: 40 }),
      'c5.4xlarge': onDemand('c5.4xlarge', { max: 20 }),
    }),
    cloud: usualCloud,
    work: [
      {
        gangs: 24,
        bundles: [{ CPU: 4 }, { CPU: 2 }, { CPU: 2 }, { CPU: 2 }],
        strategy: 'PACK',
        duration: { min: '3m', max: '8m' },
        over: '30m',
      },
    ],
  },
];
