import type { TrapFile } from '../../core/spec/provider-facts.ts';
import { cloudProblems } from './problems.ts';

/** Zones bear the name of their region. */
export function checkZones({ provider, add }: TrapFile): void {
  const { region, availability_zone: zones } = provider;
  if (typeof region !== 'string' || typeof zones !== 'string' || !/^[a-z]+-[a-z-]*\d+$/.test(region)) return;
  const stray = zones
    .split(',')
    .map((zone) => zone.trim())
    .find((zone) => /^[a-z]+-[a-z]+/.test(zone) && !zone.startsWith(region));
  if (stray !== undefined)
    add(cloudProblems.ZoneOutsideRegion, ['provider', 'availability_zone'], { zone: stray, region });
}

export function checkStoppedDisks({ provider, addAtKey }: TrapFile, name: string): void {
  if (!('cache_stopped_nodes' in provider)) addAtKey(cloudProblems.StoppedDisks, ['provider'], { provider: name });
}
