import type { Host } from '../../base/host.ts';
import { sshErrors } from '../../base/ssh/errors.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { OwnHost } from '../../core/spec/local.ts';
import { type ClaimTerms, claimTerms } from './claim-program.ts';
import { claimHost, lookAtHost, refusalText, releaseClaim, renewClaim } from './claims.ts';
import { CoolOff } from './cool-off.ts';
import { type LocalPace, type LocalProviderEdges, localPace } from './edges.ts';
import { localEvents as events } from './events.ts';
import type { ClaimRecord, LocalRecords } from './record.ts';

const askForKeyEvery = 200;

/** Nobody waits any more for a host that has not got its key yet. */
export class KeyMissing extends Error {
  override readonly message = "the cluster's key is being installed there";
}

/** What is done on hosts, each thing once, with its record. Errors mean that a host did not answer. */
export class HostWork {
  readonly coolOff: CoolOff;
  readonly pace: LocalPace;
  readonly #edges: LocalProviderEdges;
  readonly #records: LocalRecords;
  readonly #terms: ClaimTerms;
  /** The key by which a host was last told to be another one. */
  readonly #keysTold = new Map<string, string>();
  readonly #freeSince = new Map<string, Instant>();

  constructor(edges: LocalProviderEdges, records: LocalRecords) {
    this.#edges = edges;
    this.#records = records;
    this.#terms = { ...claimTerms, ...edges.terms };
    this.pace = { ...localPace, ...edges.pace };
    this.coolOff = new CoolOff(edges.clock, this.pace.coolOff, this.pace.longestCoolOff);
  }

  get lifetime(): number {
    return this.#terms.lifetime;
  }

  /** Connects to a host, by what the cluster file says of it now. */
  async reach(host: OwnHost, signal: AbortSignal, within = this.pace.connect): Promise<Host> {
    const current = this.#edges
      .pools()
      .flatMap((pool) => pool.hosts)
      .find(({ name }) => name === host.name);
    await this.#waitForKey(host, signal);
    const connection = this.#edges.connect(current ?? host);
    try {
      await connection.connect({ signal, within });
      this.#keysTold.delete(host.name);
    } catch (error) {
      this.#tellKey(host, error);
      throw error;
    }
    return connection;
  }

  /** A host that is only waiting for its key has not failed. */
  async #waitForKey(host: OwnHost, signal: AbortSignal): Promise<void> {
    const { clock } = this.#edges;
    for (const until = clock.now() + this.pace.connect; clock.now() < until; ) {
      if (!this.#edges.awaitsKey?.(host)) return;
      await clock.sleep(askForKeyEvery, signal).catch(() => {
        throw new KeyMissing();
      });
    }
  }

  #tellKey(host: OwnHost, error: unknown): void {
    if (!sshErrors.HostKeyChanged.is(error)) return;
    const { offered = 'of another type', pinned, instance } = error.data;
    if (this.#keysTold.get(host.name) === offered) return;
    this.#keysTold.set(host.name, offered);
    const accept = error.data.accept ?? `manta host-key accept -n ${this.#edges.claimant.cluster} ${instance}`;
    this.#edges.events.emit(events.keyChanged, { host: host.name, offered, pinned, accept });
  }

  passOver(host: OwnHost, reason: string): void {
    if (this.#edges.awaitsKey?.(host)) return;
    const seconds = Math.ceil(this.coolOff.note(host.name, reason) / 1000);
    this.#edges.events.emit(events.passedOver, { host: host.name, reason, seconds });
  }

  /**
   * Asks a host for a claim whose record is written. The record says afterwards whether it is held; it is gone when the
   * host refused, which is the reason that is returned.
   */
  async ask(record: ClaimRecord, signal: AbortSignal): Promise<string | undefined> {
    const { id, host } = record;
    const connection = await this.reach(host, signal);
    await this.#cleanUp(connection, record, signal);
    const claim = () => claimHost(connection, this.#edges.claimant, id, { signal }, this.#terms);
    let outcome = await claim();
    if (outcome.kind === 'own' && this.#records.claim(outcome.instance) === undefined) {
      this.#edges.events.emit(events.orphan, { host: host.name, instance: outcome.instance });
      await this.#endOn(connection, outcome.instance, signal);
      outcome = await claim();
    }
    if (outcome.kind === 'held') {
      if (outcome.rayRuns) this.#edges.events.emit(events.rayRuns, { host: host.name, instance: id });
      this.coolOff.clear(host.name);
      this.#records.writeFacts(host.name, outcome.facts);
      // Its end may have been ordered meanwhile.
      const now = this.#records.claim(id);
      if (now?.state === 'claiming') this.#records.write({ ...now, state: 'held' });
      return undefined;
    }
    this.#records.remove(id);
    const reason = outcome.kind === 'own' ? `held by ${outcome.instance} of this cluster` : refusalText(outcome);
    this.passOver(host, reason);
    return reason;
  }

  /** Ends an instance on its host and gives the claim back. `onReached`: the host has answered. */
  async end({ id, host }: ClaimRecord, onReached: () => void, signal: AbortSignal): Promise<void> {
    const connection = await this.reach(host, signal, Math.min(this.pace.connect, Math.max(1_000, this.pace.silent)));
    onReached();
    await this.#endOn(connection, id, signal);
    this.coolOff.clear(host.name);
    this.#freeSince.set(host.name, this.#edges.clock.now());
  }

  /** When this cluster last gave the host back; the one that has been free longest is the next to be taken. */
  freeSince(host: string): Instant {
    return this.#freeSince.get(host) ?? 0;
  }

  async renew({ id, host }: ClaimRecord, signal: AbortSignal): Promise<ReturnType<typeof renewClaim>> {
    return await renewClaim(await this.reach(host, signal), this.#edges.claimant, id, { signal }, this.#terms);
  }

  async look(host: OwnHost, signal: AbortSignal): Promise<void> {
    const connection = await this.reach(host, signal);
    this.#records.writeFacts(host.name, await lookAtHost(connection, { signal }, this.#terms));
  }

  /** What an earlier instance may have left on a host that did not answer when it was to end. */
  async #cleanUp(connection: Host, { id, host }: ClaimRecord, signal: AbortSignal): Promise<void> {
    for (const left of this.#records.claims()) {
      if (left.id === id || left.state !== 'unverified' || left.host.name !== host.name) continue;
      await this.#endOn(connection, left.id, signal);
      this.#records.remove(left.id);
      this.#edges.events.emit(events.cleaned, { host: host.name, instance: left.id });
    }
  }

  async #endOn(connection: Host, instance: string, signal: AbortSignal): Promise<void> {
    await this.#edges.end(connection, instance, signal);
    await releaseClaim(connection, this.#edges.claimant, instance, { signal }, this.#terms);
  }
}
