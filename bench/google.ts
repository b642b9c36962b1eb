/** Clusters on the fake of Google Cloud, beside Ray's own launcher and autoscaler; under a quarter of an hour. */
import type { Measurement } from '../scripts/bench.ts';
import { show } from './bed/shipped-cluster.ts';
import { google } from './clouds/google.ts';
import { measureCloud } from './clouds/measure.ts';

export const run = (): Promise<Measurement[]> => measureCloud(google);

if (import.meta.main) show(await run());
