import type { Plain, PlainMap } from '../../core/spec/cluster.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest } from '../provider.ts';
import { processErrors } from './errors.ts';
import type { InstanceFaults } from './record.ts';

/** One entry of `provider.manta.faults`: what a cloud does wrong, on request. */
export interface FaultRule extends InstanceFaults {
  /** Only launches of this node type. */
  readonly type?: string;
  /** Only this many launches after the start of mantad; absent: all. */
  readonly times?: number;
  /** Launches are refused with this. */
  readonly refuse?: Refusal;
  /** At most this many instances of the type at once; a launch gets what is left. */
  readonly capacity?: number;
  /** The launch works and its answer is lost. */
  readonly loseAnswer?: boolean;
}

const refusals = ['no-capacity', 'quota', 'throttled', 'denied'] as const;
type Refusal = (typeof refusals)[number];

const inSeconds = {
  boot_delay_s: 'bootDelay',
  vanish_after_s: 'vanishAfter',
  preempt_after_s: 'preemptAfter',
  preempt_notice_s: 'preemptNotice',
} as const;
const switches = { hang: 'hang', lose_answer: 'loseAnswer' } as const;
const counts = { times: 'times', capacity: 'capacity' } as const;
const keys = ['type', 'refuse', ...Object.keys({ ...inSeconds, ...switches, ...counts })];

/** Reads `provider.manta.faults` of a cluster file. */
export function readFaults(faults: readonly Plain[]): readonly FaultRule[] {
  return faults.map((rule, index) => readRule(rule, `[${index}]`));
}

function readRule(rule: Plain, at: string): FaultRule {
  if (!isMap(rule)) throw processErrors.BadFault({ at, problem: 'must be a mapping' });
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rule)) {
    const bad = (problem: string) => processErrors.BadFault({ at: `${at}.${key}`, problem });
    if (!keys.includes(key)) throw bad(`unknown key; known keys are ${keys.join(', ')}`);
    const timed = inSeconds[key as keyof typeof inSeconds];
    const counted = counts[key as keyof typeof counts];
    const flag = switches[key as keyof typeof switches];
    if (timed || counted) {
      if (typeof value !== 'number' || !(value >= 0)) throw bad('must be a number of at least 0');
      read[timed ?? counted] = timed ? value * 1000 : value;
    } else if (flag) {
      if (typeof value !== 'boolean') throw bad('must be true or false');
      read[flag] = value;
    } else if (key === 'refuse' && !refusals.includes(value as Refusal)) {
      throw bad(`must be one of ${refusals.join(', ')}`);
    } else if (typeof value !== 'string') throw bad('must be a string');
    else read[key] = value;
  }
  return read;
}

const isMap = (value: Plain | undefined): value is PlainMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The faults that are left to show, and how often each was shown. */
export class FaultPlan {
  readonly #rules: readonly FaultRule[];
  readonly #shown = new Map<FaultRule, number>();

  constructor(rules: readonly FaultRule[]) {
    this.#rules = rules;
  }

  /** What applies to one launch, put together; the rules that apply are used up by one. */
  take(request: LaunchRequest): FaultRule {
    const rules = this.#rules.filter(
      (rule) => (rule.type ?? request.type) === request.type && (this.#shown.get(rule) ?? 0) < (rule.times ?? Infinity),
    );
    for (const rule of rules) this.#shown.set(rule, (this.#shown.get(rule) ?? 0) + 1);
    return Object.assign({}, ...rules) as FaultRule;
  }
}

/** The error by which a launch is refused. */
export function refusal(kind: Refusal, request: LaunchRequest): Error {
  const asked = { type: request.type, zone: request.zone, market: request.market, detail: 'fault knob' };
  switch (kind) {
    case 'no-capacity':
      return providerErrors.NoCapacity(asked);
    case 'quota':
      return providerErrors.Quota(asked);
    case 'throttled':
      return providerErrors.Throttled({ call: 'launch' });
    case 'denied':
      return providerErrors.Denied({ call: 'launch', detail: 'fault knob' });
  }
}
