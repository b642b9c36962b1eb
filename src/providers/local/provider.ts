import { MantaError, messageOf } from '../../base/errors.ts';
import { sshErrors } from '../../base/ssh/errors.ts';
import { steadyClock } from '../../base/steady-clock.ts';
import type { NodeTypeName } from '../../core/instance.ts';
import { amountOf, type Resources } from '../../core/resources.ts';
import type { HostPool, OwnHost } from '../../core/spec/local.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../provider.ts';
import { refusalText, resourcesOf } from './claims.ts';
import type { LocalProviderEdges } from './edges.ts';
import { localEvents as events } from './events.ts';
import { HostWork, NotLetInYet } from './host-work.ts';
import { type ClaimRecord, LocalRecords } from './record.ts';
import { isDenial, type Reason, refusalOf } from './refused-launch.ts';
import { takeSome } from './take-some.ts';

const day = 24 * 3600 * 1000;
const week = 7 * day;
const longestPause = 60_000;
/** By then a cluster that starts has claimed what it needs, and has seen those hosts. */
const firstLook = 10_000;

/**
 * Instances that are claims of the user's own hosts. Every step is on disk before it is done: a claim is written down
 * before the host is asked, an end before it begins. A provider made anew on the same folder goes on where the last one
 * was killed. `list` reads the records alone; that they stay true is seen to by `keepClaims`.
 */
export class LocalProvider implements Provider {
  readonly #edges: LocalProviderEdges;
  readonly #records: LocalRecords;
  readonly #work: HostWork;
  readonly #launching = new Map<string, Promise<readonly ProviderInstance[]>>();
  /** Claims that a launch of this process is asking for; until it knows, they are nothing to show. */
  readonly #asking = new Set<string>();
  readonly #settling = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();

  constructor(given: LocalProviderEdges) {
    const edges = { ...given, clock: steadyClock(given.clock) };
    this.#edges = edges;
    this.#records = new LocalRecords(edges.folder, (file, reason) =>
      edges.events.emit(events.badRecord, { file, reason }),
    );
    this.#work = new HostWork(edges, this.#records);
    this.#dropOldLaunches();
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const records = this.#records.claims().filter(({ id }) => !this.#asking.has(id));
    for (const record of records) this.#settle(record);
    return records.filter(({ state }) => state !== 'unverified').map(instanceOf);
  }

  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const running = this.#launching.get(request.token);
    if (running) return running;
    const launch = this.#launch(request, signal).finally(() => this.#launching.delete(request.token));
    this.#launching.set(request.token, launch);
    return launch;
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const id of ids) {
      const record = this.#records.claim(id);
      if (record === undefined || record.state === 'unverified') continue;
      if (record.kind === 'head')
        throw providerErrors.Denied({ call: 'terminate', detail: `${id} is the head, which \`manta down\` ends` });
      this.#settle(this.#orderEnd(record));
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
    this.#work.coolOff.rest(record.host.name, 'it was emptied by hand', rest);
    this.#edges.events.emit(events.rests, { host: record.host.name, seconds: rest / 1_000 });
  }

  /** What came of the set-up of an instance. The host of one that failed is passed over for a while: others come first. */
  wasSetUp(id: string, failure?: string): void {
    const host = this.#records.claim(id)?.host.name;
    if (host === undefined) return;
    if (failure === undefined) return this.#work.coolOff.setUpDone(host);
    const reason = `it could not be set up: ${failure.split('\n')[0]}`;
    const seconds = Math.ceil(this.#work.coolOff.setUpFailed(host, reason) / 1000);
    this.#edges.events.emit(events.passedOver, { host, reason, seconds });
  }

  /** Somebody has changed something: no host is passed over any more for what it was before. */
  rouse(): void {
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
    await this.#inParallel(unknown, async (host) => {
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
    await this.#inParallel(held, async (record) => {
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
    while (this.#settling.size > 0) await Promise.allSettled(this.#settling.values());
  }

  /** Leaves off what is under way; the records know how to go on with it. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled([...this.#launching.values(), ...this.#settling.values()]);
  }

  async #launch(request: LaunchRequest, given: AbortSignal): Promise<readonly ProviderInstance[]> {
    const signal = AbortSignal.any([given, this.#closed.signal]);
    signal.throwIfAborted();
    const { token, type } = request;
    const known = this.#records.launch(token);
    if (known?.made)
      return known.ids
        .flatMap((id) => this.#records.claim(id) ?? [])
        .filter(isShown)
        .map(instanceOf);
    const pool = this.#edges.pools().find((each) => each.type === type);
    if (!pool) throw providerErrors.Denied({ call: 'launch', detail: `there are no hosts of type '${type}'` });

    const at = known?.at ?? this.#edges.clock.now();
    this.#records.writeLaunch({ request, at, made: false, ids: [] });
    await this.#askAgain(token, signal);
    const reasons = new Map<string, Reason>();
    const missing = request.count - this.#madeBy(token).length;
    if (missing > 0) await this.#claimSome(pool, missing, request, reasons, signal);
    signal.throwIfAborted();

    const made = this.#madeBy(token);
    const unsure = made.filter(({ state }) => state === 'claiming').map(({ host }) => host.name);
    if (unsure.length > 0)
      throw providerErrors.Unreachable({
        call: 'launch',
        detail: `the claim of ${unsure.join(', ')} was not answered`,
      });
    if (made.length > 0) {
      this.#records.writeLaunch({ request, at, made: true, ids: made.map(({ id }) => id) });
      return made.map(instanceOf);
    }
    this.#records.removeLaunch(token);
    throw refusalOf(pool, reasons);
  }

  /** Claims that an earlier call of the same launch asked for and never heard of. */
  async #askAgain(token: string, signal: AbortSignal): Promise<void> {
    await this.#inParallel(
      this.#madeBy(token).filter(({ state }) => state === 'claiming'),
      async ({ id }) => {
        const settled = await this.#settledSoon(id, signal);
        const record = this.#records.claim(id);
        if (record?.state !== 'claiming' || signal.aborted) return;
        if (settled && ((await this.#ask(record, signal)) !== 'unknown' || signal.aborted)) return;
        // It had its second chance: others are asked in its place, and it is given back when the host answers.
        this.#giveUp(record, new Error(this.#work.coolOff.reason(record.host.name) ?? 'no answer'));
        this.#settle({ ...record, state: 'unverified' });
      },
    );
  }

  /** False when whoever settles the record is still at it after a while: the host does not answer. */
  async #settledSoon(id: string, signal: AbortSignal): Promise<boolean> {
    const settling = this.#settling.get(id);
    if (settling === undefined) return true;
    const over = new AbortController();
    const late = this.#edges.clock.sleep(this.#work.pace.silent, AbortSignal.any([signal, over.signal]));
    const settled = await Promise.race([settling.then(() => true), late.then(() => false).catch(() => false)]);
    over.abort();
    return settled;
  }

  async #claimSome(
    pool: HostPool,
    count: number,
    request: LaunchRequest,
    reasons: Map<string, Reason>,
    signal: AbortSignal,
  ): Promise<void> {
    const { patience, width } = this.#work.pace;
    await takeSome(this.#freeHosts(pool, request.token, reasons), count, {
      clock: this.#edges.clock,
      patience,
      width,
      reach: async (host, enough) => {
        try {
          await this.#work.reach(host, AbortSignal.any([signal, enough]));
          return true;
        } catch (error) {
          // Also when enough others were found: it has been slow, which is worth remembering.
          const early = error instanceof NotLetInYet;
          const text = enough.aborted && !early ? 'it is slow to answer' : reasonOf(error);
          reasons.set(host.name, { text, denied: isDenial(error) });
          if (!signal.aborted && !early) this.#work.passOver(host, text);
          return false;
        }
      },
      take: async (host) => {
        // Another launch may have taken it since.
        if (this.#freeHosts({ ...pool, hosts: [host] }, request.token, reasons).length === 0) return 'refused';
        return await this.#ask(this.#writeClaim(host, request), signal, reasons);
      },
    });
  }

  #writeClaim(host: OwnHost, request: LaunchRequest): ClaimRecord {
    const record: ClaimRecord = {
      format: 1,
      id: this.#records.idOf(request.token, host.name),
      launchToken: request.token,
      type: request.type,
      kind: 'worker',
      state: 'claiming',
      host,
      launchedAt: this.#edges.clock.now(),
      tags: request.tags,
    };
    this.#asking.add(record.id);
    this.#records.write(record);
    return record;
  }

  /** Asks a host, and once more when the connection was lost: the same claim again is no second one. */
  async #ask(
    record: ClaimRecord,
    signal: AbortSignal,
    reasons = new Map<string, Reason>(),
  ): Promise<'taken' | 'refused' | 'unknown'> {
    this.#asking.add(record.id);
    try {
      const reason = await this.#work.ask(record, signal).catch(() => this.#work.ask(record, signal));
      if (reason === undefined) return 'taken';
      reasons.set(record.host.name, { text: reason });
      return 'refused';
    } catch (error) {
      if (!signal.aborted) this.#work.passOver(record.host, reasonOf(error));
      return 'unknown';
    } finally {
      this.#asking.delete(record.id);
    }
  }

  /** Hosts of a pool that this cluster does not have, those that failed lately apart. */
  #freeHosts(pool: HostPool, token: string, reasons: Map<string, Reason>): readonly OwnHost[] {
    const all = this.#records.claims();
    const records = all.filter((record) => isShown(record) || record.launchToken === token);
    const taken = new Set(records.map(({ host }) => host.name));
    const free = pool.hosts.filter(({ name }) => {
      const reason = taken.has(name) ? 'in use by this cluster' : this.#work.coolOff.reason(name);
      if (reason !== undefined) reasons.set(name, { text: reason });
      return reason === undefined;
    });
    // Those that are known to be silent come last, and one that was just given back after those that were not.
    const silent = new Set(all.filter((record) => !isShown(record)).map(({ host }) => host.name));
    const rank = ({ name }: OwnHost): number => (silent.has(name) ? Infinity : this.#work.freeSince(name));
    return free
      .map((host) => ({ host, at: rank(host) }))
      .toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at))
      .map(({ host }) => host);
  }

  #madeBy(token: string): readonly ClaimRecord[] {
    return this.#records.claims().filter((record) => record.launchToken === token && isShown(record));
  }

  #dropOldLaunches(): void {
    this.#records.dropLaunchesBefore(this.#edges.clock.now() - week);
  }

  #orderEnd(record: ClaimRecord): ClaimRecord {
    if (record.state === 'ending') return record;
    const ordered: ClaimRecord = { ...record, state: 'ending', endingSince: this.#edges.clock.now() };
    this.#records.write(ordered);
    return ordered;
  }

  #lose(id: string, by: string): void {
    const record = this.#records.claim(id);
    if (record?.state !== 'held') return;
    this.#edges.events.emit(events.lost, { host: record.host.name, instance: id, by });
    if (record.kind === 'worker') this.#settle(this.#orderEnd(record));
  }

  #giveUp(record: ClaimRecord, error: unknown): void {
    this.#records.write({ ...record, state: 'unverified' });
    this.#edges.events.emit(events.unverified, { ...endOf(record), ...troubleOf(error) });
  }

  /** Brings what is neither held nor gone to the one or the other, in the background, one worker a record. */
  #settle({ id, state }: ClaimRecord): void {
    if (state === 'held' || this.#settling.has(id) || this.#asking.has(id) || this.#closed.signal.aborted) return;
    const done = this.#settleRecord(id).finally(() => this.#settling.delete(id));
    this.#settling.set(id, done);
  }

  async #settleRecord(id: string): Promise<void> {
    const { clock } = this.#edges;
    const { signal } = this.#closed;
    const { endAgain, silent, giveUp } = this.#work.pace;
    const begun = clock.now();
    let told: string | undefined;
    for (let pause = endAgain; !signal.aborted; pause = Math.min(2 * pause, longestPause)) {
      const record = this.#records.claim(id);
      if (record === undefined || record.state === 'held') return;
      let answers = false;
      try {
        if (record.state === 'claiming') await this.#work.ask(record, signal);
        else {
          await this.#work.end(record, () => (answers = true), signal);
          this.#records.remove(id);
          if (record.state === 'unverified')
            this.#edges.events.emit(events.cleaned, { host: record.host.name, instance: id });
        }
        if (this.#records.claim(id)?.state !== 'ending') return;
      } catch (error) {
        const now = this.#records.claim(id);
        const since = now?.endingSince ?? record.launchedAt;
        // An earlier process may have written it by a clock that was ahead.
        const silentFor = clock.now() - (since > clock.now() ? begun : since);
        if (now === undefined || signal.aborted) continue;
        const gone = isShown(now) && silentFor >= (answers || now.state === 'claiming' ? giveUp : silent);
        // Each cause once: a host may be away for days, and is asked every minute.
        if (gone) this.#giveUp(now, error);
        else if (now.state !== 'claiming' && told !== causeOf(error))
          this.#edges.events.emit(events.notEnded, { ...endOf(now), ...troubleOf(error) });
        told = causeOf(error);
      }
      await clock.sleep(pause, signal).catch(() => {});
    }
  }

  async #inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const waiting = [...items];
    const worker = async (): Promise<void> => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
    };
    await Promise.all(Array.from({ length: Math.min(this.#work.pace.width, items.length) }, worker));
  }
}

const endOf = ({ id, host }: ClaimRecord) => ({ host: host.name, instance: id });
const causeOf = (error: unknown): string => (error instanceof MantaError ? error.code : reasonOf(error));
const troubleOf = (error: unknown) => ({
  reason: reasonOf(error),
  next: (error instanceof MantaError && error.hint) || 'it is ended there as soon as that can be done',
});

const isShown = ({ state }: ClaimRecord): boolean => state !== 'unverified';

const instanceOf = (record: ClaimRecord): ProviderInstance => ({
  id: record.id,
  launchToken: record.launchToken,
  type: record.type,
  kind: record.kind,
  state: ({ claiming: 'pending', held: 'running', ending: 'stopping', unverified: 'stopping' } as const)[record.state],
  launchedAt: record.launchedAt,
  tags: record.tags,
  address: record.host.address,
});

function leastOf(all: readonly Resources[]): Resources {
  const names = Object.keys(all[0] ?? {}).filter((name) => all.every((each) => Object.hasOwn(each, name)));
  return Object.fromEntries(names.map((name) => [name, Math.min(...all.map((each) => amountOf(each, name)))]));
}

const reasonOf = (error: unknown): string => {
  if (sshErrors.AuthFailed.is(error)) return `${error.message}; 'manta up' puts the key of the cluster there`;
  return messageOf(error);
};
