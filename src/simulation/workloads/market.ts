import type { ScenarioFile } from '../scenario/scenario-file.ts';
import { cluster, onDemand, spot, usualCloud } from './catalog.ts';

/** Prices, spot machines and machines that are not to be had. */
export const marketWorkloads: readonly ScenarioFile[] = [
  {
    name: 'spot-and-on-demand',
    summary: 'the same shape on demand and on spot; spot is taken back now and then with two minutes of warning',
    cluster: cluster(40, {
      'on-demand': onDemand('m5.4xlarge', { max: 20 }),
      spot: spot('m5.4xlarge', { max: 20 }),
    }),
    cloud: { ...usualCloud, preemption: [{ market: 'spot', every: '2h', notice: '2m' }] },
    work: [{ tasks: 400, needs: { CPU: 1 }, duration: { min: '2m', max: '5m' }, over: '30m' }],
  },
  {
    name: 'spot-storm',
    summary: 'half of the spot machines are taken back within ten minutes, some without warning',
    cluster: cluster(40, {
      spot: spot('c5.4xlarge', { max: 20 }),
      'on-demand': onDemand('c5.4xlarge', { max: 20 }),
    }),
    cloud: {
      ...usualCloud,
      preemption: [
        { market: 'spot', every: '3h', notice: '2m' },
        { market: 'spot', every: '15m', from: '12m', until: '22m', notice: '2m' },
        { market: 'spot', zone: 'a', every: '10m', from: '15m', until: '20m' },
      ],
    },
    work: [{ tasks: 400, needs: { CPU: 1 }, duration: { min: '2m', max: '6m' }, over: '35m' }],
  },
  {
    name: 'sold-out-type',
    summary: 'the first choice cannot be had for the first 20 minutes; an equal one can',
    cluster: cluster(40, {
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 30 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 30 }),
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 20 }),
    }),
    cloud: {
      ...usualCloud,
      capacity: [
        { type: 'c5.2xlarge', limit: 0, until: '20m' },
        { type: 'm5.2xlarge', limit: 3, until: '20m' },
      ],
    },
    work: [{ tasks: 240, needs: { CPU: 1 }, duration: { min: '2m', max: '5m' } }],
  },
  {
    name: 'sold-out-zones',
    summary: 'two of three zones are empty and the third gives a few machines at a time',
    cluster: cluster(40, {
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 20 }),
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 30 }),
    }),
    cloud: {
      ...usualCloud,
      capacity: [
        { zone: 'a', limit: 0, until: '30m' },
        { zone: 'b', limit: 0, until: '15m' },
        { zone: 'c', type: 'm5.4xlarge', limit: 4, until: '25m' },
        { zone: 'c', type: 'm5.2xlarge', limit: 6, until: '25m' },
      ],
    },
    work: [{ tasks: 300, needs: { CPU: 1 }, duration: { min: '2m', max: '5m' }, over: '10m' }],
  },
  {
    name: 'price-spread',
    summary: 'five types that hold the same work at different prices',
    cluster: cluster(40, {
      'r5.2xlarge': onDemand('r5.2xlarge', { max: 20 }),
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 20 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 20 }),
      'c5.2xlarge-spot': spot('c5.2xlarge', { max: 10 }),
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 20 }),
    }),
    cloud: { ...usualCloud, preemption: [{ market: 'spot', every: '4h', notice: '2m' }] },
    work: [{ tasks: 300, needs: { CPU: 2 }, duration: { min: '2m', max: '6m' }, over: '30m' }],
  },
];
