import type { Remain } from '../../providers/clouds.ts';

/** Why something is still there, in words. */
export function whyOf({ keeps, detail }: Remain): string {
  const why = {
    shared: 'kept, because others use it',
    'by the file': 'kept, because the file says so',
    'made by hand': 'kept, because Manta did not create it',
  } as const;
  const first = keeps === undefined ? 'could not be deleted' : why[keeps];
  return detail === undefined ? first : `${first}: ${detail}`;
}
