import { MantaError, messageOf } from '../../../base/errors.ts';
import type { AwsPrice } from '../prepared.ts';
import { askPrices } from '../prices.ts';
import type { FileType } from './file-types.ts';
import { instanceTypeOf } from './instance-types.ts';
import type { Scene } from './scene.ts';

export interface KnownPrices {
  /** When they were asked for. */
  readonly at: number;
  readonly list: readonly AwsPrice[];
  /** Why none are known. */
  readonly why?: string;
}

/** What the instance types cost. Prices are not worth a failed `up`: what AWS does not tell, or only to others, is not known. */
export async function askKnownPrices(scene: Scene, types: readonly FileType[]): Promise<KnownPrices> {
  const { aws, region, request, signal } = scene;
  const names = [...new Set(types.map(instanceTypeOf))];
  const spot = types.some(({ usesSpot }) => usesSpot);
  try {
    const list = await askPrices(aws, { region, types: names, spot }, request.clock, signal);
    return { at: request.clock.now(), list };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof MantaError)) throw error;
    return { at: 0, list: [], why: messageOf(error) };
  }
}
