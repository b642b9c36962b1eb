import type { PlainMap } from '../cluster.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { copyPlain, pythonFacts, setPythonFacts } from '../yaml/python.ts';

/**
 * What Ray fills in for a provider before it looks at anything else; undefined where Ray has no such provider. A key of the
 * file replaces the whole default under it.
 */
export function rayDefaultsOf({ defaults, ray }: ProviderFacts): PlainMap | undefined {
  if (ray !== 'defaults' || defaults === undefined) return undefined;
  const copy = copyPlain(defaults);
  // Whole numbers that Python has as floats.
  const floats = [...pythonFacts(defaults).floats, ...('upscaling_speed' in copy ? ['upscaling_speed'] : [])];
  setPythonFacts(copy, { floats: new Set(floats), keys: new Map() });
  return copy;
}
