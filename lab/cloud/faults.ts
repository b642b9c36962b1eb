import { concerns, type Market } from './catalog.ts';
import type { Random } from './random.ts';
import { count, fields, flag, marketReader, number, oneOf, type Reader, required, text } from './settings.ts';

/** What goes wrong on request; behaviour.md tells what each does. */
export const faultNames = [
  'throttle',
  'server-error',
  'lost-request',
  'lost-answer',
  'late-request',
  'late-answer',
  'duplicate-call',
  'stale-list',
  'duplicate-entry',
  'partial-fill',
  'no-capacity',
  'quota',
  'denied',
  'slow-boot',
  'hang-boot',
  'dead-boot',
  'no-ssh',
  'vanish',
  'preempt',
  'rebalance',
  'late-refusal',
  'half-list',
  'refuse',
  'stuck-operation',
  'rollback',
  'unreachable',
] as const;
export type FaultName = (typeof faultNames)[number];

export const calls = [
  'launch',
  'list',
  'get',
  'terminate',
  'tag',
  'stop',
  'start',
  'console',
  'machine-types',
  'regions',
  'prices',
  'quotas',
  'describe',
  'change',
] as const;
export type CallName = (typeof calls)[number];

export interface FaultRule {
  readonly fault: FaultName;
  /** One of `calls`, or what a dialect calls it, such as `RunInstances`. */
  readonly call?: string;
  readonly account?: string;
  readonly type?: string;
  readonly zone?: string;
  readonly market?: Market;
  /** It happens so often, then no more. @default always */
  readonly times?: number;
  /** Chances to happen that it lets pass first. @default 0 */
  readonly skip?: number;
  /** Share of the chances that it takes. @default 1 */
  readonly rate?: number;
  /** How late, how old, or after how long. */
  readonly seconds?: number;
  /** In place of `seconds`: drawn for each, with this mean. */
  readonly every_s?: number;
  /** Of a preemption: how long before it is told. @default 0 */
  readonly notice_s?: number;
  /** Instances that a partial fill gives. @default one less than asked */
  readonly count?: number;
  /** Of what is lost: nothing is said at all, in place of closing the connection. @default false */
  readonly silent?: boolean;
  /** Of a server error: the call has taken effect. @default false */
  readonly after?: boolean;
  readonly message?: string;
  /** Of a refusal: the dialect's own code. Of a late one: what was missing. */
  readonly code?: string;
}

/** Dialects write their calls as AWS and Google do: `RunInstances`, `instances.insert`. */
const callReader: Reader<string> = (value, at) =>
  typeof value === 'string' && /^[A-Z]\w+$|^\w+\.\w+$/.test(value) ? value : oneOf(calls)(value, at);

const readRule = fields<FaultRule>({
  fault: oneOf(faultNames),
  call: callReader,
  account: text,
  type: text,
  zone: text,
  market: marketReader,
  times: count,
  skip: number,
  rate: number,
  seconds: number,
  every_s: number,
  notice_s: number,
  count,
  silent: flag,
  after: flag,
  message: text,
  code: text,
});

export const readFault: Reader<FaultRule> = (value, at) => required(readRule(value, at), ['fault'], at);

/** Where a fault may happen. */
export interface Chance {
  readonly call?: CallName | undefined;
  readonly operation?: string | undefined;
  readonly account: string;
  readonly type?: string | undefined;
  readonly zone?: string | undefined;
  readonly market?: string | undefined;
}

/** The rules that are in force, and how often each has happened. */
export class Faults {
  readonly #random: Random;
  #rules: { readonly rule: FaultRule; skipped: number; happened: number }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(rule: FaultRule): void {
    this.#rules.push({ rule, skipped: 0, happened: 0 });
  }

  clear(): void {
    this.#rules = [];
  }

  all(): readonly (FaultRule & { readonly happened: number })[] {
    return this.#rules.map(({ rule, happened }) => ({ ...rule, happened }));
  }

  /** The rule by which the fault happens here and now; it is used up by one. */
  take(fault: FaultName, chance: Chance): FaultRule | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      if (rule.fault !== fault || entry.happened >= (rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (rule.call !== undefined && rule.call !== chance.call && rule.call !== chance.operation) continue;
      if (rule.account !== undefined && rule.account !== chance.account) continue;
      if (!concerns(rule, chance)) continue;
      if (entry.skipped < (rule.skip ?? 0)) {
        entry.skipped++;
        continue;
      }
      if (rule.rate !== undefined && this.#random.next() >= rule.rate) continue;
      entry.happened++;
      return rule;
    }
    return undefined;
  }

  /** How long after its cause a fault comes, in milliseconds. */
  delay({ seconds, every_s }: FaultRule): number {
    return 1000 * (every_s === undefined ? (seconds ?? 0) : this.#random.exponential(every_s));
  }
}
