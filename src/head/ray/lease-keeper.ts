import type { Clock, Duration } from '../../base/clock.ts';
import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { Slots } from '../../base/ssh/slots.ts';
import { renewLease } from '../../bringup/lease.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import { turnOffEvents } from '../turn-off/events.ts';

export interface LeaseKeeping {
  readonly cluster: string;
  readonly provider: Provider;
  readonly hostOf: (instance: ProviderInstance) => Host;
  readonly clock: Clock;
  readonly events: EventSink;
  /** How long a lease lasts, as of now. */
  readonly lasts: () => Duration;
}

/** A lease is renewed so often while it lasts: several renewals may fail before it lapses. */
const renewalsInTime = 6;
const seldomest = 300_000;
const renewWithin = 20_000;
const fewAtOnce = 16;
/** Each renewal starts a process, which holds this one up for a moment: of many, one is begun this often at most. */
const pace = 100;

/**
 * Renews the leases of all workers until the signal aborts, from the first moment on: a head that was away has used up part
 * of them. Hosts without a lease are those that are not brought up yet.
 */
export async function keepLeases(keeping: LeaseKeeping, signal: AbortSignal): Promise<void> {
  const { cluster, provider, hostOf, clock, events, lasts } = keeping;
  const failing = new Set<string>();
  const within = (): Duration => Math.min(renewWithin, lasts() / 2);
  const renew = async (instance: ProviderInstance): Promise<void> => {
    const host = hostOf(instance);
    try {
      await host.connect({ signal, within: within() });
      const outcome = await renewLease(host, cluster, lasts(), { signal, within: within() });
      if (outcome === 'failed') throw new Error('its file cannot be written');
      failing.delete(instance.id);
    } catch (error) {
      if (signal.aborted || failing.has(instance.id)) return;
      failing.add(instance.id);
      const reason = (error as Error).message;
      events.emit(turnOffEvents.leaseNotRenewed, { host: host.name, reason, seconds: Math.round(lasts() / 1_000) });
    }
  };
  while (!signal.aborted) {
    const instances = await provider.list(signal).catch(() => []);
    const workers = instances.filter(({ kind, state }) => kind === 'worker' && state === 'running');
    const period = Math.min(seldomest, lasts() / renewalsInTime);
    const between = Math.min(pace, period / 2 / workers.length);
    // All have had their turn in a third of the time, even if none of them answers.
    const slots = new Slots(Math.max(fewAtOnce, Math.ceil((3 * workers.length * within()) / lasts())));
    const renewals = workers.map(async (each, index) => {
      await clock.sleep(index * between, signal);
      await slots.use(signal, () => renew(each));
    });
    await Promise.all(renewals).catch(() => {});
    await clock.sleep(period, signal).catch(() => {});
  }
}
