import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Accounts } from './accounts.ts';
import { type Call, readCall } from './api.ts';
import type { CallLog, CallRecord, LaunchAsked } from './call-log.ts';
import type { Cloud } from './cloud.ts';
import { type CloudError, cloudErrors } from './errors.ts';
import type { FaultName, FaultRule } from './faults.ts';
import { answer, answerError, asCloudError, readAsked } from './http.ts';
import type { LaunchBody } from './instance.ts';

type Outcome = { readonly body: unknown } | { readonly error: CloudError } | 'lost' | 'silent';

/** Serves `/v1`: each call travels, takes effect and is answered, with what goes wrong on each of the three. */
export class ApiServer {
  readonly #cloud: Cloud;
  readonly #accounts: Accounts;
  readonly #log: CallLog;

  constructor(cloud: Cloud, accounts: Accounts, log: CallLog) {
    this.#cloud = cloud;
    this.#accounts = accounts;
    this.#log = log;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.timeOrigin + performance.now();
    let call: Call;
    let account: string;
    try {
      account = this.#accounts.of(request);
      call = readCall(await readAsked(request));
    } catch (error) {
      answerError(response, asCloudError(error));
      return;
    }
    const faults: string[] = [];
    const outcome = await this.#carryOut(call, account, faults);
    const base = { at, account, call: call.name, ...(call.launch && { asked: askedOf(call.launch) }), faults };
    const took_ms = performance.timeOrigin + performance.now() - at;
    if (outcome === 'lost') request.socket.destroy();
    if (typeof outcome === 'string') this.#log.add({ ...base, took_ms });
    else if ('error' in outcome) {
      this.#log.add({ ...base, status: outcome.error.status, error: outcome.error.code, took_ms });
      answerError(response, outcome.error);
    } else {
      this.#log.add({ ...base, status: 200, ...idsOf(call, outcome.body), took_ms });
      answer(response, 200, outcome.body);
    }
  }

  async #carryOut(call: Call, account: string, happened: string[]): Promise<Outcome> {
    const cloud = this.#cloud;
    const { machine_type: type, zone, market } = call.launch ?? {};
    const take = (fault: FaultName): FaultRule | undefined => {
      const rule = cloud.faults.take(fault, {
        call: call.name,
        account,
        type,
        zone,
        market: call.launch && (market ?? 'on-demand'),
      });
      if (rule !== undefined) happened.push(fault);
      return rule;
    };
    const travel = (): Promise<void> => pause(cloud.random.between(cloud.settings.latency_ms) / 2);

    const lost = take('lost-request');
    if (lost) return lost.silent ? 'silent' : 'lost';
    await travel();
    const late = take('late-request');
    if (late) await pause(cloud.faults.delay(late));
    const throttle = take('throttle');
    if (throttle || !this.#accounts.mayCall(account, cloud.settings.rate_limit))
      return { error: cloudErrors.throttled(throttle?.message) };
    const broken = take('server-error');
    const failure = broken && { error: cloudErrors.internal(broken.message) };
    if (failure && !broken.after) return failure;

    const outcome = attempt(() => call.make(cloud, account));
    if ('body' in outcome && take('duplicate-call')) attempt(() => call.make(cloud, account));

    const lostAnswer = take('lost-answer');
    if (lostAnswer) return lostAnswer.silent ? 'silent' : 'lost';
    const lateAnswer = take('late-answer');
    if (lateAnswer) await pause(cloud.faults.delay(lateAnswer));
    await travel();
    return failure ?? outcome;
  }
}

function attempt(make: () => unknown): Exclude<Outcome, string> {
  try {
    return { body: make() };
  } catch (error) {
    return { error: asCloudError(error) };
  }
}

const pause = async (wait: number): Promise<void> => {
  if (wait > 0) await sleep(wait, undefined, { ref: false });
};

const askedOf = ({ machine_type: type, zone, market, count, client_token: token }: LaunchBody): LaunchAsked => ({
  type,
  ...(zone !== undefined && { zone }),
  ...(market !== undefined && { market }),
  count: count ?? 1,
  ...(token !== undefined && { token }),
});

function idsOf({ name }: Call, body: unknown): Pick<CallRecord, 'instances'> {
  if (name === 'launch') return { instances: (body as { instances: { id: string }[] }).instances.map(({ id }) => id) };
  if (name === 'terminate') return { instances: (body as { terminating: string[] }).terminating };
  return {};
}
