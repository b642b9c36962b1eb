import { MantaError } from '../../base/errors.ts';
import type { LocalProviderEdges } from './edges.ts';
import { localEvents as events } from './events.ts';
import type { HostWork } from './host-work.ts';
import { type ClaimRecord, isShown, type LocalRecords } from './record.ts';
import { reasonOf } from './refused-launch.ts';

const longestPause = 60_000;

/** Claims on their way to being held or gone, whatever became of the process that began it. */
export class Settling {
  readonly #edges: LocalProviderEdges;
  readonly #records: LocalRecords;
  readonly #work: HostWork;
  readonly #isAsking: (id: string) => boolean;
  readonly #closed: AbortSignal;
  readonly #underWay = new Map<string, Promise<void>>();

  /** `isAsking`: a launch is at this claim, and settles it itself. */
  constructor(
    edges: LocalProviderEdges,
    records: LocalRecords,
    work: HostWork,
    isAsking: (id: string) => boolean,
    closed: AbortSignal,
  ) {
    this.#edges = edges;
    this.#records = records;
    this.#work = work;
    this.#isAsking = isAsking;
    this.#closed = closed;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay.values());
  }

  /** Written down before it begins. */
  orderEnd(record: ClaimRecord): ClaimRecord {
    if (record.state === 'ending') return record;
    const ordered: ClaimRecord = { ...record, state: 'ending', endingSince: this.#edges.clock.now() };
    this.#records.write(ordered);
    return ordered;
  }

  /** Nobody waits for its host any more: it is given back there when that answers. */
  giveUp(record: ClaimRecord, error: unknown): void {
    this.#records.write({ ...record, state: 'unverified' });
    this.#edges.events.emit(events.unverified, { ...endOf(record), ...troubleOf(error) });
  }

  /** Brings what is neither held nor gone to the one or the other, in the background, one worker a record. */
  settle({ id, state }: ClaimRecord): void {
    if (state === 'held' || this.#underWay.has(id) || this.#isAsking(id) || this.#closed.aborted) return;
    const done = this.#settleRecord(id).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, done);
  }

  async #settleRecord(id: string): Promise<void> {
    const { clock } = this.#edges;
    const signal = this.#closed;
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
        if (gone) this.giveUp(now, error);
        else if (now.state !== 'claiming' && told !== causeOf(error))
          this.#edges.events.emit(events.notEnded, { ...endOf(now), ...troubleOf(error) });
        told = causeOf(error);
      }
      await clock.sleep(pause, signal).catch(() => {});
    }
  }

  /** False when the record is still being settled after a while: the host does not answer. */
  async settledSoon(id: string, signal: AbortSignal): Promise<boolean> {
    const settling = this.#underWay.get(id);
    if (settling === undefined) return true;
    const over = new AbortController();
    const late = this.#edges.clock.sleep(this.#work.pace.silent, AbortSignal.any([signal, over.signal]));
    const settled = await Promise.race([settling.then(() => true), late.then(() => false).catch(() => false)]);
    over.abort();
    return settled;
  }
}

const endOf = ({ id, host }: ClaimRecord) => ({ host: host.name, instance: id });
const causeOf = (error: unknown): string => (error instanceof MantaError ? error.code : reasonOf(error));
const troubleOf = (error: unknown) => ({
  reason: reasonOf(error),
  next: (error instanceof MantaError && error.hint) || 'it is stopped as soon as the host responds',
});
