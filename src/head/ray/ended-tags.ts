import type { Instant } from '../../base/clock.ts';

/** Clouds allow no more in a tag. */
const longest = 250;

/** The last word of a cluster, on the instance of its head, which goes with its disk. */
export const endedTags = {
  of: (at: Instant, why: string): Readonly<Record<string, string>> => ({
    'manta-ended-at': new Date(at).toISOString(),
    'manta-ended-why': why.slice(0, longest),
  }),
  read(tags: Readonly<Record<string, string>>): { readonly at: Instant; readonly why: string } | undefined {
    const at = Date.parse(tags['manta-ended-at'] ?? '');
    const why = tags['manta-ended-why'];
    return Number.isNaN(at) || why === undefined ? undefined : { at, why };
  },
};
