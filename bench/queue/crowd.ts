/** Many jobs at once for a head with little memory: through Manta's queue, and straight to Ray's own jobs API. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../../scripts/bench.ts';
import { note, seconds } from '../launcher/bed.ts';
import { type JobServer, QueueBed } from './bed.ts';

const memory = 4 * 2 ** 30;
const jobs = Number(process.env['MANTA_BENCH_JOBS'] ?? 1_000);
const minutes = Number(process.env['MANTA_BENCH_MINUTES'] ?? 30);
/** Ray's own is not waited for longer: it is told how far it came. */
const rayMinutes = Math.min(5, minutes);
/** Jobs hold on until all are submitted and the first have filled what there is. */
const heldFor = 60_000;
const lookEvery = 5_000;
const entrypoint = 'until [ -e /tmp/go ]; do sleep 1; done';

type States = Readonly<Record<string, number>>;

interface Crowd {
  readonly taken: number;
  readonly states: States;
  readonly took: number;
  readonly most: number;
  readonly killed: number;
  readonly silent: boolean;
}

export async function measureCrowd(): Promise<Measurement[]> {
  const crowd = await run('manta', async (bed) => (await bed.startManta()).manta, minutes * 60_000);
  const done = crowd.states['SUCCEEDED'] ?? 0;
  return [
    {
      name: `queue: ${jobs} jobs on a head with 4 GB, succeeded`,
      ours: `${done} after ${seconds(crowd.took)} (${words(crowd)})`,
      goal: 'all',
      reached: done === jobs,
    },
  ];
}

export async function measureRayCrowd(): Promise<Measurement[]> {
  const crowd = await run('ray', (bed) => bed.startRay(), rayMinutes * 60_000);
  return [
    {
      name: `queue: the same straight to Ray's own jobs API, succeeded`,
      ours: `${crowd.states['SUCCEEDED'] ?? 0} after ${seconds(crowd.took)} (${words(crowd)})`,
    },
  ];
}

const words = ({ taken, states, most, killed, silent }: Crowd): string =>
  [
    `${taken} taken`,
    ...Object.entries(states).map(([state, count]) => `${count} ${state.toLowerCase()}`),
    `${most.toFixed(0)} MiB at most`,
    `${killed} processes killed for want of memory`,
    ...(silent ? ['the API no longer answers'] : []),
  ].join(', ');

async function run(name: string, start: (bed: QueueBed) => Promise<JobServer>, within: number): Promise<Crowd> {
  const bed = await QueueBed.open(memory);
  try {
    const server = await start(bed);
    const began = performance.now();
    const taken = await bed.client<number>('submit', { servers: [server], count: jobs, entrypoint }, within);
    note(`${name}: ${taken} of ${jobs} taken after ${seconds(performance.now() - began)}`);
    const released = performance.now() + heldFor;
    let states: States = {};
    let silent = false;
    for (let gone = false; performance.now() - began < within; await sleep(lookEvery)) {
      if (!gone && performance.now() > released) {
        await bed.head.must('touch /tmp/go');
        gone = true;
      }
      const looked = await bed.client<States>('states', { servers: [server] }, 90_000).catch(() => undefined);
      silent = looked === undefined;
      states = looked ?? states;
      const { most, killed } = bed.memory();
      note(`${name}: ${JSON.stringify(looked ?? 'no answer')}, ${most.toFixed(0)} MiB at most, ${killed} killed`);
      if ((states['SUCCEEDED'] ?? 0) + (states['FAILED'] ?? 0) + (states['STOPPED'] ?? 0) >= taken) break;
    }
    return { taken, states, took: performance.now() - began, ...bed.memory(), silent };
  } finally {
    await bed.close();
  }
}
