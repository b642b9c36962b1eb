import type { ScenarioFile } from '../scenario/scenario-file.ts';
import { cluster, onDemand, usualCloud } from './catalog.ts';

/** CPU work in the shapes it usually arrives in. */
export const cpuWorkloads: readonly ScenarioFile[] = [
  {
    name: 'burst',
    summary: 'one burst of 400 one-CPU tasks of a few minutes',
    cluster: cluster(60, {
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 40 }),
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 40 }),
      'c5.4xlarge': onDemand('c5.4xlarge', { max: 40 }),
    }),
    cloud: usualCloud,
    work: [{ tasks: 400, needs: { CPU: 1 }, duration: { min: '2m', max: '6m' } }],
  },
  {
    name: 'burst-one-type',
    summary: 'the same burst where there is only one type to choose',
    cluster: cluster(60, { 'm5.2xlarge': onDemand('m5.2xlarge', { max: 40 }) }),
    cloud: usualCloud,
    work: [{ tasks: 400, needs: { CPU: 1 }, duration: { min: '2m', max: '6m' } }],
  },
  {
    name: 'ramp',
    summary: 'tasks that arrive faster and faster for 40 minutes',
    cluster: cluster(50, {
      'm5.xlarge': onDemand('m5.xlarge', { max: 50 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 50 }),
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 30 }),
    }),
    cloud: usualCloud,
    work: [{ tasks: 600, needs: { CPU: 1 }, duration: { min: '2m', max: '5m' }, over: '40m', shape: 'ramp' }],
  },
  {
    name: 'diurnal',
    summary: 'two humps of load with a quiet hour between them, above a floor of two nodes',
    cluster: cluster(50, {
      'm5.2xlarge': onDemand('m5.2xlarge', { min: 2, max: 40 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 40 }),
    }),
    cloud: usualCloud,
    work: [
      {
        tasks: 600,
        needs: { CPU: 1 },
        duration: { median: '2m', p95: '6m' },
        over: '90m',
        shape: 'wave',
        repeat: { every: '150m', times: 2 },
      },
    ],
  },
  {
    name: 'mixed-shapes',
    summary: 'tasks of 1, 2, 4 and 8 CPUs, some with much memory, over 30 minutes',
    cluster: cluster(40, {
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 30 }),
      'r5.2xlarge': onDemand('r5.2xlarge', { max: 30 }),
      'r5.4xlarge': onDemand('r5.4xlarge', { max: 30 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 30 }),
      'c5.4xlarge': onDemand('c5.4xlarge', { max: 30 }),
    }),
    cloud: usualCloud,
    work: [
      { tasks: 160, needs: { CPU: 1 }, duration: { min: '1m', max: '4m' }, over: '30m' },
      { tasks: 80, needs: { CPU: 2 }, duration: { min: '2m', max: '5m' }, over: '30m' },
      { tasks: 40, needs: { CPU: 4, memory: 20e9 }, duration: { min: '3m', max: '8m' }, over: '30m' },
      { tasks: 20, needs: { CPU: 8 }, duration: { min: '3m', max: '6m' }, over: '30m' },
    ],
  },
  {
    name: 'long-tail',
    summary: '300 tasks of which a few run ten times longer than the rest',
    cluster: cluster(40, {
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 30 }),
      'c5.4xlarge': onDemand('c5.4xlarge', { max: 30 }),
    }),
    cloud: usualCloud,
    work: [{ tasks: 300, needs: { CPU: 1 }, duration: { median: '90s', p95: '12m' } }],
  },
  {
    name: 'short-tasks',
    summary: '1,500 tasks of a few seconds each, in three volleys',
    cluster: cluster(40, {
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 40 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 40 }),
    }),
    cloud: usualCloud,
    work: [
      {
        tasks: 500,
        needs: { CPU: 1 },
        duration: { min: '5s', max: '15s' },
        repeat: { every: '4m', times: 3 },
      },
    ],
  },
  {
    name: 'trickle',
    summary: 'a task now and then for two hours, never much at once',
    cluster: cluster(20, {
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 10 }),
      'm5.xlarge': onDemand('m5.xlarge', { max: 20 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 20 }),
    }),
    cloud: usualCloud,
    work: [{ tasks: 120, needs: { CPU: 2 }, duration: { min: '1m', max: '3m' }, over: '2h' }],
  },
  {
    name: 'repeated-bursts',
    summary: 'a burst every twelve minutes: just after idle nodes have gone',
    cluster: cluster(40, {
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 30 }),
      'c5.9xlarge': onDemand('c5.9xlarge', { max: 10 }),
      'c5.2xlarge': onDemand('c5.2xlarge', { max: 30 }),
    }),
    cloud: usualCloud,
    work: [
      {
        tasks: 120,
        needs: { CPU: 1 },
        duration: { min: '1m', max: '3m' },
        repeat: { every: '12m', times: 5 },
      },
    ],
  },
  {
    name: 'standing-request',
    summary: 'request_resources for 64 CPUs for half an hour, with bursts on top',
    cluster: cluster(40, {
      'm5.4xlarge': onDemand('m5.4xlarge', { max: 20 }),
      'c5.4xlarge': onDemand('c5.4xlarge', { max: 20 }),
    }),
    cloud: usualCloud,
    work: [
      { standing: [{ needs: { CPU: 1 }, count: 64 }], until: '30m' },
      {
        tasks: 100,
        needs: { CPU: 1 },
        duration: { min: '1m', max: '4m' },
        at: '5m',
        repeat: { every: '10m', times: 3 },
      },
    ],
  },
  {
    name: 'actors',
    summary: 'a serving fleet of actors that grows, holds and shrinks, with batch tasks beside it',
    cluster: cluster(40, {
      'm5.xlarge': onDemand('m5.xlarge', { max: 30 }),
      'm5.2xlarge': onDemand('m5.2xlarge', { max: 30 }),
      'c5.4xlarge': onDemand('c5.4xlarge', { max: 20 }),
    }),
    cloud: usualCloud,
    work: [
      { actors: 16, needs: { CPU: 2 }, duration: '60m' },
      { actors: 24, needs: { CPU: 2 }, duration: { min: '20m', max: '30m' }, at: '10m', over: '10m' },
      { tasks: 120, needs: { CPU: 1 }, duration: { min: '1m', max: '4m' }, at: '15m', over: '20m' },
    ],
  },
];
