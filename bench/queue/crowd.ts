/** Many jobs at once for a head with little memory: through Manta's queue, and straight to Ray's own jobs API. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../../scripts/bench.ts';
import { note, seconds } from '../launcher/bed.ts';
import { type JobServer, QueueBed } from './bed.ts';

const limit = 4 * 2 ** 30;
const jobs = Number(process.env['MANTA_BENCH_JOBS'] ?? 1_000);
const minutes = Number(process.env['MANTA_BENCH_MINUTES'] ?? 30);
/** Ray's own is not waited for longer: it is told how far it came. */
const rayMinutes = Math.min(5, minutes);
/** Jobs hold on until no more of them have begun to run for this long: then as many are there as ever will be. */
const heldUntilSame = 45_000;
const lookEvery = 5_000;
const entrypoint = 'until [ -e /tmp/go ]; do sleep 1; done';

type States = Readonly<Record<string, number>>;

interface Crowd {
  readonly taken: number;
  readonly states: States;
  /** Most that were seen to run at one moment. */
  readonly atOnce: number;
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

const words = ({ taken, states, atOnce, most, killed, silent }: Crowd): string =>
  [
    `${taken} taken`,
    ...Object.entries(states).map(([state, count]) => `${count} ${state.toLowerCase()}`),
    `${atOnce} at once`,
    `${most.toFixed(0)} MiB at most`,
    `${killed} processes killed for want of memory`,
    ...(silent ? ['the API no longer answers'] : []),
  ].join(', ');

async function run(name: string, start: (bed: QueueBed) => Promise<JobServer>, within: number): Promise<Crowd> {
  const bed = await QueueBed.open(limit);
  try {
    const server = await start(bed);
    const began = performance.now();
    const taken = await bed.client<number>('submit', { servers: [server], count: jobs, entrypoint }, within);
    note(`${name}: ${taken} of ${jobs} taken after ${seconds(performance.now() - began)}`);
    let states: States = {};
    let silent = false;
    let most = { running: 0, since: performance.now() };
    for (let gone = false; performance.now() - began < within; await sleep(lookEvery)) {
      const running = states['RUNNING'] ?? 0;
      if (running > most.running) most = { running, since: performance.now() };
      if (!gone && performance.now() - most.since > heldUntilSame) {
        await bed.head.must('touch /tmp/go');
        gone = true;
      }
      const looked = await bed.client<States>('states', { servers: [server] }, 90_000).catch(() => undefined);
      silent = looked === undefined;
      states = looked ?? states;
      const memory = bed.memory();
      note(
        `${name}: ${JSON.stringify(looked ?? 'no answer')}, ${memory.most.toFixed(0)} MiB at most, ${memory.killed} killed`,
      );
      if ((states['SUCCEEDED'] ?? 0) + (states['FAILED'] ?? 0) + (states['STOPPED'] ?? 0) >= taken) break;
    }
    return { taken, states, atOnce: most.running, took: performance.now() - began, ...bed.memory(), silent };
  } finally {
    await bed.close();
  }
}
