import type { Labels, Resources } from '../resources.ts';
import { asksForNothing, fits, plus } from './booking.ts';
import { placeGang } from './gang.ts';
import { matchesLabels } from './labels.ts';
import { byFit, type Placement, type Room } from './room.ts';
import { asksForSlices, headsOfFreeSlices } from './slices.ts';

export interface Asked {
  readonly resources: Resources;
  readonly labels: Labels;
  readonly gang?: { readonly bundles: readonly Resources[]; readonly strategy: string };
}

/**
 * Where an order goes, or undefined when there is no room now. One that asks for nothing runs on the head. Otherwise the
 * node that is left with least of what was asked for; nodes with graphics devices are spared for work that asks for them.
 */
export function place(asked: Asked, nodes: readonly Room[]): Placement | undefined {
  const bundles = asked.gang?.bundles ?? [];
  const suitable = nodes.filter((node) => matchesLabels(asked.labels, node.labels));
  if (bundles.length === 0) {
    const candidates = asksForNothing(asked.resources) ? nodes.filter((node) => node.head) : suitable;
    const best = candidates.filter((node) => fits(asked.resources, node.available)).sort(byFit(asked.resources))[0];
    return best && [{ node: best.id, resources: asked.resources }];
  }
  // The entrypoint's own resources stand beside the first bundle.
  const parts = bundles.map((bundle, index) => (index === 0 ? plus(bundle, asked.resources) : bundle));
  // A gang across slices starts on whole ones only: a job on part of one would wait for the rest of it, and hold the others.
  const slices = asksForSlices(bundles);
  return placeGang(parts, asked.gang?.strategy ?? 'PACK', slices ? headsOfFreeSlices(suitable) : suitable);
}
