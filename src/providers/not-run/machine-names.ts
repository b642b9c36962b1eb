import type { Resources } from '../../core/resources.ts';
import type { Plain } from '../../core/spec/cluster.ts';

/** What the name of a machine gives away, for planning before the provider is asked. Undefined for names that say nothing. */
export const likelyByName = (
  name: Plain | undefined,
  read: (name: string) => Resources | undefined,
): Resources | undefined => (typeof name === 'string' ? read(name.toLowerCase()) : undefined);

export const withGpus = (cpus: number, gpus: number | undefined): Resources =>
  gpus ? { CPU: cpus, GPU: gpus } : { CPU: cpus };
