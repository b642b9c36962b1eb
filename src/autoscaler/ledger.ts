import type { Duration, Instant } from '../base/time/clock.ts';
import type { InstanceId } from '../core/instance.ts';
import { type InstanceRecord, isFinal } from '../core/lifecycle.ts';
import type { LaunchRefusal, Memory } from '../core/view.ts';
import { refusalKey, type ScalingFact } from './journal.ts';

/** How long an ended instance is remembered: late lists may still name its machine. */
const endedKept: Duration = 600_000;

/** The journal, folded: where every instance stands and what was learnt. Only facts change it. */
export class Ledger {
  readonly #records = new Map<InstanceId, InstanceRecord>();
  readonly #byProviderId = new Map<string, InstanceId>();
  readonly #refusals = new Map<string, LaunchRefusal>();
  #unneededSince: Record<InstanceId, Instant> = {};

  get records(): Iterable<InstanceRecord> {
    return this.#records.values();
  }

  record(id: InstanceId): InstanceRecord | undefined {
    return this.#records.get(id);
  }

  ofMachine(providerId: string): InstanceRecord | undefined {
    const id = this.#byProviderId.get(providerId);
    return id === undefined ? undefined : this.#records.get(id);
  }

  ofToken(token: string): InstanceRecord[] {
    const found: InstanceRecord[] = [];
    for (const record of this.#records.values()) if (record.launchToken === token) found.push(record);
    return found;
  }

  /** Nodes of an earlier life of machines that were stopped and started again. */
  get formerNodes(): ReadonlySet<string> {
    const former = new Set<string>();
    for (const { formerNodes } of this.#records.values()) for (const node of formerNodes ?? []) former.add(node);
    return former;
  }

  refusal(offer: Parameters<typeof refusalKey>[0]): LaunchRefusal | undefined {
    return this.#refusals.get(refusalKey(offer));
  }

  /** Takes in one fact. A fact it does not understand changes nothing and is answered with `false`. */
  apply(fact: ScalingFact): boolean {
    switch (fact.kind) {
      case 'launch':
        for (const record of fact.records) this.#put(record);
        return true;
      case 'instance':
      case 'adopted':
      case 'end':
        this.#put(fact.record);
        return true;
      case 'refused':
        this.#refusals.set(refusalKey(fact.refusal), fact.refusal);
        return true;
      case 'granted':
        this.#refusals.delete(refusalKey(fact));
        return true;
      case 'planned':
        if (fact.fact.kind === 'unneeded') this.#unneededSince[fact.fact.instance] = fact.fact.since;
        else delete this.#unneededSince[fact.fact.instance];
        return true;
      default:
        return false;
    }
  }

  /** What the planner may know of the past. */
  get memory(): Memory {
    return { refusals: [...this.#refusals.values()], unneededSince: { ...this.#unneededSince } };
  }

  /**
   * All earlier facts are in. Nobody was watching for a while: what was missing before may have been there since, and the
   * clock may have been set back: no refusal lies in the future, where it would stretch a back-off and hide later ones.
   */
  foldedAt(now: Instant): void {
    for (const { absentSince, ...record } of this.#records.values()) {
      if (absentSince !== undefined) this.#records.set(record.id, record);
    }
    for (const [key, { last, until, ...refusal }] of this.#refusals) {
      if (last > now) this.#refusals.set(key, { ...refusal, last: now, until: now + (until - last) });
    }
  }

  /** Forgets what no late answer can refer to any more. */
  prune(now: Instant): void {
    for (const record of this.#records.values()) {
      if (!isFinal(record.status) || now - record.since < endedKept) continue;
      this.#records.delete(record.id);
      if (record.providerId !== undefined && this.#byProviderId.get(record.providerId) === record.id) {
        this.#byProviderId.delete(record.providerId);
      }
    }
  }

  #put(record: InstanceRecord): void {
    this.#records.set(record.id, record);
    if (record.providerId !== undefined) this.#byProviderId.set(record.providerId, record.id);
    if (isFinal(record.status) && Object.hasOwn(this.#unneededSince, record.id)) delete this.#unneededSince[record.id];
  }
}
