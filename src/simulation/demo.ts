import type { ScenarioFile } from './scenario/scenario-file.ts';
import { cluster, onDemand, spot, usualCloud } from './workloads/catalog.ts';

/** Half an hour in ten seconds: a burst, a gang, spot machines that are taken back, and everything gone at the end. */
export const demoScenario: ScenarioFile = {
  name: 'demo',
  summary: 'a burst of tasks, a gang on GPUs and a preempted spot machine, on a cluster that starts with nothing',
  cluster: cluster(24, {
    'm5.2xlarge': onDemand('m5.2xlarge', { max: 12 }),
    'c5.2xlarge-spot': spot('c5.2xlarge', { max: 8 }),
    'g4dn.xlarge': onDemand('g4dn.xlarge', { max: 4 }),
  }),
  cloud: {
    ...usualCloud,
    capacity: [{ type: 'c5.2xlarge-spot', limit: 6 }],
    preemption: [{ market: 'spot', every: '8m', from: '4m', until: '14m', notice: '2m' }],
  },
  work: [
    { tasks: 90, needs: { CPU: 1 }, duration: { min: '1m', max: '4m' } },
    { tasks: 60, needs: { CPU: 1 }, duration: { min: '1m', max: '3m' }, at: '8m', over: '6m' },
    {
      gangs: 1,
      bundles: Array.from({ length: 4 }, () => ({ CPU: 2, GPU: 1 })),
      strategy: 'STRICT_SPREAD',
      duration: '5m',
      at: '5m',
    },
  ],
};
