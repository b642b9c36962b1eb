import { steadyClock } from '../../base/time/steady-clock.ts';
import type { NodeTypeName } from '../../core/instance.ts';
import { amountOf, type Resources } from '../../core/resources.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../provider.ts';
import { refusalText, resourcesOf } from './claims.ts';
import type { LocalProviderEdges } from './edges.ts';
import { localEvents as events } from './events.ts';
import { HostWork } from './host-work.ts';
import { inParallel } from './in-parallel.ts';
import { Launches } from './launches.ts';
import { instanceOf, LocalRecords } from './record.ts';
import { reasonOf } from './refused-launch.ts';
import { Settling } from './settling.ts';

const day = 24 * 3600 * 1000;
const week = 7 * day;
/** By then a cluster that starts has claimed what it needs, and has seen those hosts. */
const firstLook = 10_000;

/**
 * Instances that are claims of the user's own hosts. Every step is on disk before it is done: a claim is written down
 * before the host is asked, an end before it begins. A provider created again on the same folder goes on where the last one
 * was killed. `list` reads the records alone; that they stay true is seen to by `keepClaims`.
 */
export class LocalProvider implements Provider {
  readonly #edges: LocalProviderEdges;
  readonly #records: LocalRecords;
  readonly #work: HostWork;
  readonly #launches: Launches;
  readonly #settling: Settling;
  readonly #closed = new AbortController();

  constructor(given: LocalProviderEdges) {
    const edges = { ...given, clock: steadyClock(given.clock) };
    this.#edges = edges;
    this.#records = new LocalRecords(edges.folder, (file, reason) =>
      edges.events.emit(events.badRecord, { file, reason }),
    );
    this.#work = new HostWork(edges, this.#records);
    const { signal } = this.#closed;
    const isAsking = (id: string): boolean => this.#launches.isAsking(id);
    this.#settling = new Settling(edges, this.#records, this.#work, isAsking, signal);
    this.#launches = new Launches(edges, this.#records, this.#work, this.#settling, signal);
    this.#dropOldLaunches();
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const records = this.#records.claims().filter(({ id }) => !this.#launches.isAsking(id));
    for (const record of records) this.#settling.settle(record);
    return records.filter(({ state }) => state !== 'unverified').map(instanceOf);
  }

  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    return this.#launches.launch(request, signal);
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const id of ids) {
      const record = this.#records.claim(id);
      if (record === undefined || record.state === 'unverified') continue;
      if (record.kind === 'head')
        throw providerErrors.Denied({
          call: 'terminate',
          detail: `${id} is the head; use \`manta down\` to shut down the cluster`,
        });
      this.#settling.settle(this.#settling.orderEnd(record));
    }
  }

  async tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const record = this.#records.claim(id);
    if (record === undefined || record.state === 'unverified') throw providerErrors.NotFound({ id });
    this.#records.write({ ...record, tags: { ...record.tags, ...tags } });
  }

  /** A person empties the host of an instance: it is not taken again at once. */
  rest(id: string): void {
    const record = this.#records.claim(id);
    if (record?.kind !== 'worker') return;
    const { rest } = this.#work.pace;
    this.#work.coolOff.rest(record.host.name, 'it was drained by hand', rest);
    this.#edges.events.emit(events.rests, { host: record.host.name, seconds: rest / 1_000 });
  }

  /** What came of the setup of an instance. The host of one that failed is passed over for a while: others come first. */
  wasSetUp(id: string, failure?: string): void {
    const host = this.#records.claim(id)?.host.name;
    if (host === undefined) return;
    if (failure === undefined) return this.#work.coolOff.setUpDone(host);
    const reason = `setup failed: ${failure.split('\n')[0]}`;
    const seconds = Math.ceil(this.#work.coolOff.setUpFailed(host, reason) / 1000);
    this.#edges.events.emit(events.passedOver, { host, reason, seconds });
  }

  /** Somebody has changed something: no host is passed over any more for what it was before. */
  retryNow(): void {
    this.#work.coolOff.clearAll();
  }

  /** What nodes of a type offer, by the hosts that were looked at: the least of them, so that no promise is broken. */
  learned(): ReadonlyMap<NodeTypeName, Resources> {
    const found = new Map<NodeTypeName, Resources>();
    for (const { type, hosts } of this.#edges.pools()) {
      const each = hosts.flatMap((host) => this.#records.facts(host.name) ?? []).map(resourcesOf);
      if (each.length > 0) found.set(type, leastOf(each));
    }
    return found;
  }

  /** Looks at hosts of which nothing is known yet, without a claim. Those that do not answer stay unknown. */
  async survey(signal: AbortSignal): Promise<void> {
    const unknown = this.#edges
      .pools()
      .flatMap(({ hosts }) => hosts)
      .filter(({ name }) => !this.#records.facts(name) && this.#work.coolOff.reason(name) === undefined);
    await inParallel(unknown, this.#work.pace.width, async (host) => {
      try {
        await this.#work.look(host, signal);
      } catch (error) {
        if (!signal.aborted) this.#work.passOver(host, reasonOf(error));
      }
    });
  }

  /** Renews every claim once, the head's too. One that somebody else has taken meanwhile is an instance that ends. */
  async renew(signal: AbortSignal): Promise<void> {
    const held = this.#records.claims().filter(({ state }) => state === 'held');
    await inParallel(held, this.#work.pace.width, async (record) => {
      const { id: instance, host } = record;
      const failed = (reason: string): void =>
        this.#edges.events.emit(events.notRenewed, { host: host.name, instance, reason });
      try {
        const answer = await this.#work.renew(record, signal);
        if (answer.kind === 'unusable') failed(refusalText(answer));
        else if (answer.kind === 'taken') this.#lose(instance, refusalText(answer));
      } catch (error) {
        if (!signal.aborted) failed(reasonOf(error));
      }
    });
  }

  /** Renews the claims, well before they expire, and looks at hosts that nobody has claimed, until the signal. */
  async keepClaims(signal: AbortSignal): Promise<void> {
    const { clock } = this.#edges;
    const usual = this.#work.lifetime / 5;
    let dropped = clock.now();
    for (let pause = Math.min(usual, firstLook); !signal.aborted; pause = usual) {
      await this.renew(signal);
      await clock.sleep(pause, signal).catch(() => {});
      if (!signal.aborted) await this.survey(signal);
      if (clock.now() - dropped < day) continue;
      this.#dropOldLaunches();
      dropped = clock.now();
    }
  }

  /** Resolves when nothing is under way in the background. */
  async settled(): Promise<void> {
    await this.#settling.settled();
  }

  /** Leaves off what is under way; the records know how to go on with it. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([this.#launches.ended(), this.#settling.settled()]);
  }

  #dropOldLaunches(): void {
    this.#records.dropLaunchesBefore(this.#edges.clock.now() - week);
  }

  #lose(id: string, by: string): void {
    const record = this.#records.claim(id);
    if (record?.state !== 'held') return;
    this.#edges.events.emit(events.lost, { host: record.host.name, instance: id, by });
    if (record.kind === 'worker') this.#settling.settle(this.#settling.orderEnd(record));
  }
}

function leastOf(all: readonly Resources[]): Resources {
  const names = Object.keys(all[0] ?? {}).filter((name) => all.every((each) => Object.hasOwn(each, name)));
  return Object.fromEntries(names.map((name) => [name, Math.min(...all.map((each) => amountOf(each, name)))]));
}
