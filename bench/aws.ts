/** Clusters on the fake of AWS, beside Ray's own launcher and autoscaler; under a quarter of an hour. */
import type { Measurement } from '../scripts/bench.ts';
import { show } from './bed/shipped-cluster.ts';
import { aws } from './clouds/aws.ts';
import { measureCloud } from './clouds/measure.ts';

export const run = (): Promise<Measurement[]> => measureCloud(aws);

if (import.meta.main) show(await run());
