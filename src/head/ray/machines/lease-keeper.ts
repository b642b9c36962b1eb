import { Calls } from '../../../autoscaler/act/calls.ts';
import { messageOf } from '../../../base/errors.ts';
import type { EventSink } from '../../../base/events.ts';
import type { Host } from '../../../base/host.ts';
import { Slots } from '../../../base/ssh/slots.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';
import { renewLease } from '../../../bringup/lease/lease.ts';
import type { Provider, ProviderInstance } from '../../../providers/provider.ts';
import { headEvents } from '../../events.ts';

export interface LeaseKeeping {
  readonly cluster: string;
  readonly provider: Provider;
  /** Workers that the engine shows, by its own knowledge: for a provider that does not answer. */
  readonly seen: (signal: AbortSignal) => Promise<readonly ProviderInstance[]>;
  readonly hostOf: (instance: ProviderInstance) => Host;
  readonly clock: Clock;
  readonly events: EventSink;
  /** How long a lease lasts at this time. */
  readonly lasts: () => Duration;
}

/** A lease is renewed so often while it lasts: several renewals may fail before it expires. */
const renewalsInTime = 6;
const seldomest = 300_000;
const renewWithin = 20_000;
const fewAtOnce = 16;
/** Each renewal starts a process, which holds this one up for a moment: of many, one is begun this often at most. */
const pace = 100;
/** A provider that did not answer is asked again so soon. */
const askAgain = 5_000;

/**
 * Renews the leases of all workers until the signal aborts, from the first moment on: a head that was away has used up part
 * of them. Hosts without a lease are those that are not brought up yet. While the provider does not answer, those that it
 * listed last and those that the engine shows are renewed: no worker ends because a list failed.
 */
export async function keepLeases(keeping: LeaseKeeping, signal: AbortSignal): Promise<void> {
  const { cluster, provider, hostOf, events, lasts } = keeping;
  const clock = steadyClock(keeping.clock);
  const failing = new Set<string>();
  const workers = new KnownWorkers(keeping);
  let turns = new Map<string, number>();
  const within = (): Duration => Math.min(renewWithin, lasts() / 2);
  const renew = async (instance: ProviderInstance): Promise<void> => {
    turns.set(instance.id, clock.now());
    const host = hostOf(instance);
    try {
      await host.connect({ signal, within: within() });
      const { notices } = provider;
      const also = notices && {
        program: notices.program,
        heard: (said: string) => notices.heard(instance.id, said),
      };
      const outcome = await renewLease(host, cluster, lasts(), { signal, within: within() }, also);
      if (outcome === 'failed') throw new Error('its file cannot be written');
      failing.delete(instance.id);
    } catch (error) {
      if (signal.aborted || failing.has(instance.id)) return;
      failing.add(instance.id);
      const reason = messageOf(error);
      events.emit(headEvents.leaseNotRenewed, { host: host.name, reason, seconds: Math.round(lasts() / 1_000) });
    }
  };
  while (!signal.aborted) {
    const known = await workers.look(within(), signal);
    const period = Math.min(seldomest, lasts() / renewalsInTime);
    turns = new Map(known.flatMap(({ id }) => (turns.has(id) ? [[id, turns.get(id) as number]] : [])));
    const due = known.filter(({ id }) => clock.now() - (turns.get(id) ?? Number.NEGATIVE_INFINITY) >= period);
    const between = Math.min(pace, period / 2 / due.length);
    // All have had their turn in a third of the time, even if none of them answers.
    const slots = new Slots(Math.max(fewAtOnce, Math.ceil((3 * due.length * within()) / lasts())));
    const renewals = due.map(async (each, index) => {
      await clock.sleep(index * between, signal);
      await slots.use(signal, () => renew(each));
    });
    await Promise.all(renewals).catch(() => {});
    await clock.sleep(workers.complete ? period : Math.min(askAgain, period), signal).catch(() => {});
  }
}

/** The workers that hold a lease, by the best that is known of them. */
class KnownWorkers {
  /** The provider answered the last look. */
  complete = true;
  readonly #keeping: LeaseKeeping;
  #workers: ReadonlyMap<string, ProviderInstance> = new Map();

  constructor(keeping: LeaseKeeping) {
    this.#keeping = keeping;
  }

  async look(within: Duration, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { provider, seen, clock, events } = this.#keeping;
    const calls = new Calls(clock, within);
    const late = (): Error => new Error('no response');
    const both = (call: AbortSignal): AbortSignal => AbortSignal.any([call, signal]);
    try {
      const instances = await calls.make(late, (call) => provider.list(both(call)));
      const running = instances.filter(({ kind, state }) => kind === 'worker' && state === 'running');
      this.#workers = new Map(running.map((each) => [each.id, each]));
      this.complete = true;
    } catch (error) {
      if (signal.aborted) return [];
      const nodes = await calls.make(late, (call) => seen(both(call))).catch(() => []);
      this.#workers = new Map([...nodes, ...this.#workers.values()].map((each) => [each.id, each]));
      if (this.complete)
        events.emit(headEvents.leasesWithoutList, { reason: messageOf(error), workers: this.#workers.size });
      this.complete = false;
    }
    return [...this.#workers.values()];
  }
}
