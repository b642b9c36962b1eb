import type { Host } from '../../base/host.ts';
import type { OwnHost } from '../../core/spec/local.ts';
import { type ClaimTerms, claimTerms } from './claim-program.ts';
import { claimHost, lookAtHost, refusalText, releaseClaim, renewClaim } from './claims.ts';
import { CoolOff } from './cool-off.ts';
import { type LocalPace, type LocalProviderEdges, localPace } from './edges.ts';
import { localEvents as events } from './events.ts';
import type { ClaimRecord, LocalRecords } from './record.ts';

/** What is done on hosts, each thing once, with its record. Errors mean that a host did not answer. */
export class HostWork {
  readonly coolOff: CoolOff;
  readonly pace: LocalPace;
  readonly #edges: LocalProviderEdges;
  readonly #records: LocalRecords;
  readonly #terms: ClaimTerms;

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
  async reach(host: OwnHost, signal: AbortSignal): Promise<Host> {
    const current = this.#edges
      .pools()
      .flatMap((pool) => pool.hosts)
      .find(({ name }) => name === host.name);
    const connection = this.#edges.connect(current ?? host);
    await connection.connect({ signal, within: this.pace.connect });
    return connection;
  }

  passOver(host: OwnHost, reason: string): void {
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

  /** Ends an instance on its host and gives the claim back. */
  async end({ id, host }: ClaimRecord, signal: AbortSignal): Promise<void> {
    await this.#endOn(await this.reach(host, signal), id, signal);
    this.coolOff.clear(host.name);
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
