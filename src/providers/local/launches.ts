import type { HostPool, OwnHost } from '../../core/spec/local.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../provider.ts';
import type { LocalProviderEdges } from './edges.ts';
import { type HostWork, KeyMissing } from './host-work.ts';
import { inParallel } from './in-parallel.ts';
import { type ClaimRecord, instanceOf, isShown, type LocalRecords } from './record.ts';
import { isDenial, type Reason, reasonOf, refusalOf } from './refused-launch.ts';
import type { Settling } from './settling.ts';
import { takeSome } from './take-some.ts';

/** Launches: hosts of a pool that are asked for a claim, as many as were wanted. */
export class Launches {
  readonly #edges: LocalProviderEdges;
  readonly #records: LocalRecords;
  readonly #work: HostWork;
  readonly #settling: Settling;
  readonly #closed: AbortSignal;
  readonly #underWay = new Map<string, Promise<readonly ProviderInstance[]>>();
  readonly #asking = new Set<string>();

  constructor(
    edges: LocalProviderEdges,
    records: LocalRecords,
    work: HostWork,
    settling: Settling,
    closed: AbortSignal,
  ) {
    this.#edges = edges;
    this.#records = records;
    this.#work = work;
    this.#settling = settling;
    this.#closed = closed;
  }

  /** A launch of this process is asking for this claim; until it knows, it is nothing to show. */
  isAsking(id: string): boolean {
    return this.#asking.has(id);
  }

  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const running = this.#underWay.get(request.token);
    if (running) return running;
    const launch = this.#carryOut(request, signal).finally(() => this.#underWay.delete(request.token));
    this.#underWay.set(request.token, launch);
    return launch;
  }

  /** Resolves when those that are under way have ended. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  async #carryOut(request: LaunchRequest, given: AbortSignal): Promise<readonly ProviderInstance[]> {
    const signal = AbortSignal.any([given, this.#closed]);
    signal.throwIfAborted();
    const { token, type } = request;
    const known = this.#records.launch(token);
    if (known?.made)
      return known.ids
        .flatMap((id) => this.#records.claim(id) ?? [])
        .filter(isShown)
        .map(instanceOf);
    const pool = this.#edges.pools().find((each) => each.type === type);
    if (!pool) throw providerErrors.Denied({ call: 'launch', detail: `no hosts of type '${type}'` });

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
        detail: `no response while claiming ${unsure.join(', ')}`,
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
    await inParallel(
      this.#madeBy(token).filter(({ state }) => state === 'claiming'),
      this.#work.pace.width,
      async ({ id }) => {
        const settled = await this.#settling.settledSoon(id, signal);
        const record = this.#records.claim(id);
        if (record?.state !== 'claiming' || signal.aborted) return;
        if (settled && ((await this.#ask(record, signal)) !== 'unknown' || signal.aborted)) return;
        // It had its second chance: others are asked in its place, and it is given back when the host answers.
        this.#settling.giveUp(record, new Error(this.#work.coolOff.reason(record.host.name) ?? 'no answer'));
        this.#settling.settle({ ...record, state: 'unverified' });
      },
    );
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
          const early = error instanceof KeyMissing;
          const text = enough.aborted && !early ? 'slow to respond' : reasonOf(error);
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

  /** Asks a host, and once more when the connection was lost: the same claim again is not a second one. */
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
}
