import type { Ended } from './cluster-record.ts';

/** Clouds allow no more in a tag. */
const longest = 250;

/** The last word of a cluster, on the instance of its head, which goes with its disk. */
export const endedTags = {
  of: ({ at, why, left }: Pick<Ended, 'at' | 'why' | 'left'>): Readonly<Record<string, string>> => ({
    'manta-ended-at': new Date(at).toISOString(),
    'manta-ended-why': why.slice(0, longest),
    ...(left.length > 0 && { 'manta-ended-left': leftText(left.map(({ host }) => host)) }),
  }),
  read(tags: Readonly<Record<string, string>>): Pick<Ended, 'at' | 'why' | 'left'> | undefined {
    const at = Date.parse(tags['manta-ended-at'] ?? '');
    const why = tags['manta-ended-why'];
    if (Number.isNaN(at) || why === undefined) return undefined;
    const [count = '0', ...names] = (tags['manta-ended-left'] ?? '').split(' ');
    const more = Number(count) - names.length;
    const hosts = more > 0 ? [...names, `${more} more`] : names;
    return {
      at,
      why,
      left: hosts.map((host) => ({ host, why: 'it could not be terminated before the head shut down' })),
    };
  },
};

/** How many, then as many of their names as there is room for. */
const leftText = (hosts: readonly string[]): string => {
  const text = [String(hosts.length), ...hosts].join(' ');
  return text.length <= longest ? text : text.slice(0, text.lastIndexOf(' ', longest));
};
