import type { CallName } from './faults.ts';

export interface LaunchAsked {
  readonly type: string;
  readonly zone?: string;
  readonly market?: string;
  readonly count: number;
  readonly token?: string;
}

/** One call of the API, as the cloud saw it. */
export interface CallRecord {
  readonly number: number;
  /** When it arrived, in milliseconds since 1970, with fractions. */
  readonly at: number;
  readonly account: string;
  readonly call: CallName;
  /** What the dialect calls it, where that is not the same. */
  readonly operation?: string;
  /** Of a launch: what was asked for. */
  readonly asked?: LaunchAsked;
  /** What was answered; absent where no answer was sent. */
  readonly status?: number;
  readonly error?: string;
  readonly instances?: readonly string[];
  /** What went wrong on request. */
  readonly faults: readonly string[];
  readonly took_ms: number;
}

const most = 100_000;

/** Every call, with its time, in the order in which they were over. */
export class CallLog {
  #records: CallRecord[] = [];
  #count = 0;

  add(record: Omit<CallRecord, 'number'>): void {
    this.#records.push({ number: ++this.#count, ...record });
    if (this.#records.length > most) this.#records = this.#records.slice(most / 2);
  }

  /** Those after the one of this number, of one call or of all. */
  since(number: number, call?: string): readonly CallRecord[] {
    return this.#records.filter(
      (record) => record.number > number && (call === undefined || record.call === call || record.operation === call),
    );
  }

  clear(): void {
    this.#records = [];
  }
}
