import { headErrors } from '../errors.ts';
import type { Ended } from '../state-folder.ts';

/** What whoever asks for a cluster that has ended without a command is told. */
export function turnedOff(name: string, ended: Ended): Error {
  const { at, why, lost } = ended;
  const when = new Date(at).toISOString();
  if (lost !== undefined) return headErrors.HeadLost({ name, when, why, workers: lost.workers, ended });
  const left = ended.left.map(({ host, why }) => `; ${host} was not cleared: ${why}`).join('');
  return headErrors.TurnedOff({ name, when, why: `${why}${left}`, ended });
}
