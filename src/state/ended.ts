import type { Ended } from './cluster-record.ts';
import { stateErrors } from './errors.ts';

/** The error for a command that asks for a cluster which shut down on its own. */
export function turnedOff(name: string, ended: Ended): Error {
  const { at, why, lost } = ended;
  const when = new Date(at).toISOString();
  if (lost !== undefined) return stateErrors.HeadLost({ name, when, why, workers: lost.workers, ended });
  const left = ended.left.map(({ host, why }) => `; ${host} was not cleaned up: ${why}`).join('');
  return stateErrors.TurnedOff({ name, when, why: `${why}${left}`, ended });
}
