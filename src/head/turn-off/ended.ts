import { headErrors } from '../errors.ts';
import type { Ended } from '../state-folder.ts';

/** What whoever asks for a cluster that turned itself off is told. */
export function turnedOff(name: string, ended: Ended): Error {
  const left = ended.left.map(({ host, why }) => `; ${host} was not cleared: ${why}`).join('');
  return headErrors.TurnedOff({ name, when: new Date(ended.at).toISOString(), why: `${ended.why}${left}`, ended });
}
