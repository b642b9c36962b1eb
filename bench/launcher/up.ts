/** `manta up` and `manta down` beside `ray up`, `ray down` and the least that plain ssh takes. */
import type { Measurement } from '../../scripts/bench.ts';
import type { ClusterBed } from '../../test/lab/cluster-bed.ts';
import {
  clusterYaml,
  file,
  freshen,
  median,
  note,
  openBed,
  rounds,
  seconds,
  timeDown,
  timeUp,
  type UpTimes,
  type Way,
  ways,
} from './bed.ts';

interface Times {
  readonly alive: number[];
  readonly returned: number[];
  readonly spent: number[];
  readonly down: number[];
  readonly left: number[];
}

export async function measureUp(workers: number): Promise<Measurement[]> {
  const bed = await openBed(1 + workers);
  const times = new Map<string, Times>();
  const of = (name: string): Times => {
    const known = times.get(name) ?? { alive: [], returned: [], spent: [], down: [], left: [] };
    times.set(name, known);
    return known;
  };
  try {
    bed.write(file, clusterYaml(bed));
    // The first round warms the caches of the machine and counts for nobody.
    for (let round = 0; round <= rounds; round++)
      for (const way of ways(bed)) {
        const up = await timeUpWell(bed, way);
        const down = way.down && (await timeDown(bed, way));
        const ended = down ? `, down ${seconds(down.time)} (${down.left} Ray processes left)` : '';
        const each = up.steps.map((step) => (step / 1_000).toFixed(1)).join(' ');
        note(
          `${round === 0 ? 'warm-up' : `round ${round}`}, ${way.name}: nodes alive at ${each} s, back after ${seconds(up.returned)}, processor ${seconds(up.spent)}${ended}; others had ${up.others.toFixed(1)} cores`,
        );
        if (round === 0) continue;
        const known = of(way.name);
        known.alive.push(up.alive);
        known.returned.push(up.returned);
        known.spent.push(up.spent);
        if (down) {
          known.down.push(down.time);
          known.left.push(down.left);
        }
      }
  } finally {
    await bed.close();
  }
  const [manta, ray, floor] = [of('manta'), of('ray'), of('floor')];
  const beside = (name: string, ours: readonly number[], theirs: readonly number[], most: number): Measurement => {
    const ratio = median(ours) / median(theirs);
    return {
      name: `launcher: 1 + ${workers}, ${name}`,
      ours: seconds(median(ours)),
      theirs: seconds(median(theirs)),
      ratio,
      goal: `at most ${most}`,
      reached: ratio <= most,
    };
  };
  return [
    beside('all nodes alive, against `ray up` (v1)', manta.alive, ray.alive, 0.6),
    beside('all nodes alive, against plain ssh', manta.alive, floor.alive, 1.25),
    ...(['ray', 'floor'] as const).map((way) => ({
      name: `launcher: 1 + ${workers}, processor time of all machines until then, against ${way}`,
      ours: seconds(median(manta.spent)),
      theirs: seconds(median(of(way).spent)),
      ratio: median(manta.spent) / median(of(way).spent),
    })),
    { name: `launcher: 1 + ${workers}, \`manta up\` came back after`, ours: seconds(median(manta.returned)) },
    beside('`manta down` against `ray down`', manta.down, ray.down, 0.4),
    {
      name: `launcher: 1 + ${workers}, Ray processes left by \`down\``,
      ours: String(Math.max(...manta.left)),
      theirs: String(median(ray.left)),
      goal: 'none',
      reached: manta.left.every((count) => count === 0),
    },
  ];
}

/** On a machine that is busy Ray itself gives up a start at times, and only Manta tries again: such a run is made anew. */
async function timeUpWell(bed: ClusterBed, way: Way): Promise<UpTimes> {
  for (let tried = 1; ; tried++) {
    await freshen(bed);
    try {
      return await timeUp(bed, way);
    } catch (error) {
      note(`${way.name} did not come up: ${(error as Error).message.slice(0, 300)}`);
      if (tried === 3) throw error;
    }
  }
}
