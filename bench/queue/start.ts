/** From a submit over HTTP until the job runs, through Manta's gateway and queue and straight to its Ray. */
import type { Measurement } from '../../scripts/bench.ts';
import { median } from '../launcher/bed.ts';
import { QueueBed } from './bed.ts';

export async function measureStart(): Promise<Measurement[]> {
  const rounds = Number(process.env['MANTA_BENCH_ROUNDS'] ?? 15);
  const bed = await QueueBed.open();
  try {
    const { manta, ray } = await bed.startManta();
    const times = await bed.client<Record<'manta' | 'ray', number[]>>('starts', {
      servers: [manta, ray],
      count: rounds,
    });
    const [ours, theirs] = [median(times.manta), median(times.ray)];
    return [
      {
        name: `queue: submit to running on a warm Ray, median of ${rounds}, against Ray's own jobs API`,
        ours: `${ours.toFixed(0)} ms`,
        theirs: `${theirs.toFixed(0)} ms`,
        ratio: ours / theirs,
        goal: 'at most 1.2',
        reached: ours / theirs <= 1.2,
      },
    ];
  } finally {
    await bed.close();
  }
}
