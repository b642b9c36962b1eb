import { messageOf } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import type { Clock, Instant } from '../../base/time/clock.ts';
import { within } from '../../base/time/deadline.ts';
import { doubling, retry } from '../../base/time/retry.ts';
import type { Cleared } from '../../core/cleared.ts';
import type { Backend } from '../backend/backend.ts';
import { headEvents } from '../events.ts';

export interface Clearing {
  readonly clock: Clock;
  readonly events: EventSink;
  /** When the cluster began to turn itself off. */
  readonly since: Instant;
}

/** Of all machines at once; what takes longer is tried again. */
const turnOffWithin = 600_000;
/** A head that is to go stays for so long where machines are left that it alone can end. */
const staysFor = 3_600_000;
const tryAgain = 10_000;
const tryAgainSeldomest = 600_000;

/**
 * Ends all machines. Where the head's own machine goes last, it does not go while others are left: nobody would end them but
 * their leases, which are not renewed any more. After an hour it goes, and they are named, whatever the cloud says.
 */
export async function clearMachines(
  backend: Pick<Backend, 'turnOff' | 'leave'>,
  { clock, events, since }: Clearing,
): Promise<Cleared> {
  const ended = new Set<string>();
  for (let told = ''; ; ) {
    const mayStay = backend.leave !== undefined && clock.now() < since + staysFor;
    const cleared = await within(clock, turnOffWithin, (signal) => backend.turnOff(signal)).catch((error: unknown) => {
      if (backend.leave === undefined) throw error;
      return { ended: [], left: [{ host: 'workers', why: messageOf(error) }] };
    });
    for (const each of cleared.ended) ended.add(each);
    const { left } = cleared;
    if (left.length === 0 || !mayStay) {
      for (const each of left) events.emit(headEvents.turnOffLeft, each);
      return { ended: [...ended], left };
    }
    const [{ why }] = left as [(typeof left)[number]];
    const hosts = left.map(({ host }) => host);
    const now = JSON.stringify([hosts, why]);
    if (now !== told) events.emit(headEvents.turnOffStays, { hosts, why });
    told = now;
    await clock.sleep(tryAgain);
  }
}

/** The head's own machine goes. Nobody else ends it: where the cloud refuses, it is asked again for as long as it takes. */
export async function leaveMachine(
  { leave }: Pick<Backend, 'leave'>,
  left: Cleared['left'],
  { clock, events }: Pick<Clearing, 'clock' | 'events'>,
): Promise<void> {
  if (leave === undefined) return;
  let told = '';
  const again = (error: unknown): boolean => {
    const why = messageOf(error);
    if (why !== told) events.emit(headEvents.turnOffHeadLeft, { why });
    told = why;
    return true;
  };
  const pause = doubling(tryAgain, tryAgainSeldomest);
  await retry(() => within(clock, turnOffWithin, (signal) => leave(left, signal)), { clock, pause, again });
}
