import type { Accounts } from './accounts.ts';
import type { CallLog, LaunchAsked } from './call-log.ts';
import type { Cloud } from './cloud.ts';
import { CloudError, cloudErrors } from './errors.ts';
import type { CallName, FaultName, FaultRule } from './faults.ts';

/** A call that a dialect has understood and that was not made yet. */
export interface Call {
  readonly name: CallName;
  /** What the dialect calls it, where that is not the same. */
  readonly operation?: string;
  /** Of a launch. */
  readonly asked?: LaunchAsked;
  /** Takes effect at once; throws what the caller is told instead. */
  make(): unknown;
  /** What the cloud says of its own accord, in the words of the dialect. */
  inWords?(error: CloudError): CloudError;
  /** Instances that the answer is about, for the log. */
  instances?(body: unknown): readonly string[];
}

/** What became of a call. `cut`: the answer ends halfway, and the connection with it, or in silence. */
export type Outcome =
  | { readonly body: unknown; readonly cut?: 'broken' | 'silent' }
  | { readonly error: CloudError }
  | 'lost'
  | 'silent';

/**
 * Where calls of every dialect arrive: each travels, takes effect and is answered, with what goes wrong on each of the
 * three, and is logged. Dialects read requests and write answers; nothing else.
 */
export class CallDesk {
  readonly #cloud: Cloud;
  readonly #accounts: Accounts;
  readonly #log: CallLog;

  constructor(cloud: Cloud, accounts: Accounts, log: CallLog) {
    this.#cloud = cloud;
    this.#accounts = accounts;
    this.#log = log;
  }

  /** `at`: when the request arrived. */
  async carryOut(call: Call, account: string, at: number): Promise<Outcome> {
    const faults: string[] = [];
    const made = await this.#carryOut(call, account, faults);
    const outcome =
      typeof made === 'object' && 'error' in made ? { error: call.inWords?.(made.error) ?? made.error } : made;
    const { name, operation, asked } = call;
    const base = { at, account, call: name, ...(operation && { operation }), ...(asked && { asked }), faults };
    const took_ms = this.#cloud.clock.now() - at;
    if (typeof outcome === 'string') this.#log.add({ ...base, took_ms });
    else if ('error' in outcome)
      this.#log.add({ ...base, status: outcome.error.status, error: outcome.error.code, took_ms });
    else {
      const instances = call.instances?.(outcome.body);
      this.#log.add({ ...base, status: 200, ...(instances && { instances }), took_ms });
    }
    return outcome;
  }

  async #carryOut(call: Call, account: string, happened: string[]): Promise<Outcome> {
    const cloud = this.#cloud;
    const { type, zone, market } = call.asked ?? {};
    const take = (fault: FaultName): FaultRule | undefined => {
      const rule = cloud.faults.take(fault, {
        call: call.name,
        operation: call.operation,
        account,
        type,
        zone,
        market: call.asked && (market ?? 'on-demand'),
      });
      if (rule !== undefined) happened.push(fault);
      return rule;
    };
    const pause = async (wait: number): Promise<void> => {
      if (wait > 0) await cloud.clock.sleep(wait);
    };
    const travel = (): Promise<void> => pause(cloud.random.between(cloud.settings.latency_ms) / 2);

    const lost = take('lost-request');
    if (lost) return lost.silent ? 'silent' : 'lost';
    await travel();
    const late = take('late-request');
    if (late) await pause(cloud.faults.delay(late));
    const throttle = take('throttle');
    if (throttle || !this.#accounts.mayCall(account, cloud.settings.rate_limit, cloud.clock.now()))
      return { error: cloudErrors.throttled(throttle?.message) };
    const refused = take('refuse');
    if (refused)
      return { error: new CloudError(400, refused.code ?? 'InvalidParameter', refused.message ?? 'on request') };
    const broken = take('server-error');
    const failure = broken && { error: cloudErrors.internal(broken.message) };
    if (failure && !broken.after) return failure;

    const outcome = attempt(() => call.make());
    if ('body' in outcome && take('duplicate-call')) attempt(() => call.make());

    const lostAnswer = take('lost-answer');
    if (lostAnswer) return lostAnswer.silent ? 'silent' : 'lost';
    const lateAnswer = take('late-answer');
    if (lateAnswer) await pause(cloud.faults.delay(lateAnswer));
    await travel();
    if (failure || !('body' in outcome)) return failure ?? outcome;
    const half = call.name === 'list' ? take('half-list') : undefined;
    return half ? { ...outcome, cut: half.silent ? 'silent' : 'broken' } : outcome;
  }
}

function attempt(make: () => unknown): { readonly body: unknown } | { readonly error: CloudError } {
  try {
    return { body: make() };
  } catch (error) {
    return { error: asCloudError(error) };
  }
}

/** An error that is none of the cloud's own is a bug of it, and shown as the trouble of the cloud that it is. */
export function asCloudError(error: unknown): CloudError {
  return error instanceof CloudError ? error : cloudErrors.internal((error as Error).stack);
}
