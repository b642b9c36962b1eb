import type { Clock, Duration } from '../base/time/clock.ts';
import { steadyClock } from '../base/time/steady-clock.ts';
import type { Cleared } from '../core/cleared.ts';
import { providerErrors } from '../providers/errors.ts';
import type { Provider, ProviderInstance } from '../providers/provider.ts';
import { Calls } from './act/calls.ts';
import { loopSettings } from './settings.ts';

export interface InstancesToEnd {
  readonly clock: Clock;
  /** @default workers */
  readonly kinds?: readonly ProviderInstance['kind'][];
  /** None has to be listed for so long before there are none: as long as a list may lag behind a launch. @default 0 */
  readonly settles?: Duration;
  /** Called once, when a list shows none for the first time; they may still appear while lists settle. */
  readonly onNone?: () => void;
  /** How long all of it may take, beside `settles`. @default 2 minutes */
  readonly within?: Duration;
}

export interface InstancesEnded {
  /** Ids of those that were listed once, and are no more. */
  readonly ended: readonly string[];
  /** Those that the last complete list still shows. */
  readonly left: readonly ProviderInstance[];
  /** What went wrong last, where some are left. */
  readonly why: string;
}

const endWithin = 120_000;
const lookSoonest = 20;
const lookLatest = 1_000;

/**
 * The one end of a cluster's instances: of `down`, of a cluster that turns itself off, and of the simulation. Nothing may
 * launch any more. Comes back when complete lists have shown none of them for long enough, so that a launch whose answer
 * was lost is found and ended too, or names what is left when its time is over. A call that fails, or does not come back,
 * is made again; a list that fails proves nothing, and where the last word is a failure that failure is thrown. May be
 * repeated, also by another process.
 */
export async function endInstances(
  provider: Pick<Provider, 'list' | 'terminate'>,
  { clock: given, kinds = ['worker'], settles = 0, onNone, within = endWithin }: InstancesToEnd,
  signal: AbortSignal,
): Promise<InstancesEnded> {
  const clock = steadyClock(given);
  const calls = new Calls(clock, loopSettings.callDeadline);
  const orderedAt = new Map<string, number>();
  const seen = new Set<string>();
  let there: readonly ProviderInstance[] = [];
  let emptySince: number | undefined;
  let failure: Error | undefined;
  let told = false;
  let pause = lookSoonest;
  for (const until = clock.now() + within + settles; clock.now() < until; pause = Math.min(2 * pause, lookLatest)) {
    try {
      const listed = await calls.make(
        () => providerErrors.Unreachable({ call: 'list' }),
        (late) => provider.list(AbortSignal.any([signal, late])),
      );
      // One that was refused late has ended, however long it is still shown.
      there = listed.filter(({ kind, failed }) => kinds.includes(kind) && failed === undefined);
      for (const { id } of there) seen.add(id);
      emptySince = there.length === 0 ? (emptySince ?? clock.now()) : undefined;
      if (emptySince !== undefined && !told) onNone?.();
      told ||= emptySince !== undefined;
      if (emptySince !== undefined && clock.now() - emptySince >= settles)
        return { ended: [...seen], left: [], why: '' };
      // One that stops may do so by an order of somebody who died on the way: it gets one of ours too, now and then.
      const repeated = clock.now() - loopSettings.terminateAgain;
      const due = there.filter(({ id, state }) => state !== 'stopping' || (orderedAt.get(id) ?? -Infinity) <= repeated);
      const ids = [...new Set(due.map(({ id }) => id))];
      for (const id of ids) orderedAt.set(id, clock.now());
      if (ids.length > 0)
        await calls.make(
          () => providerErrors.Unreachable({ call: 'terminate' }),
          (late) => provider.terminate(ids, AbortSignal.any([signal, late])),
        );
    } catch (error) {
      signal.throwIfAborted();
      failure = error as Error;
    }
    const settled = emptySince === undefined ? Infinity : emptySince + settles - clock.now();
    await clock.sleep(Math.max(lookSoonest, Math.min(pause, settled)), signal);
  }
  // None was seen, for too short a time, and then no more was heard: nobody knows.
  if (there.length === 0) throw failure ?? providerErrors.Unreachable({ call: 'list' });
  for (const { id } of there) seen.delete(id);
  const why = failure?.message ?? 'its provider still lists it';
  return { ended: [...seen], left: there, why };
}

/** As `endInstances`, in names. */
export async function clearInstances(
  provider: Pick<Provider, 'list' | 'terminate'>,
  order: InstancesToEnd,
  signal: AbortSignal,
): Promise<Cleared> {
  const { ended, left, why } = await endInstances(provider, order, signal);
  return { ended, left: left.map(({ id, address }) => ({ host: address?.inside ?? address?.outside ?? id, why })) };
}
