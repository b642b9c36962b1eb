import { rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl, lastOf } from '../client/links.ts';
import {
  failureOfOperation,
  isEnd,
  isInsert,
  isLate,
  type Operation,
  operationsOn,
  targetOf,
  waitFor,
} from '../client/operations.ts';
import { type GoogleFailure, googleFailure, refusalOf } from '../client/refusals.ts';
import { toLabel } from '../labels.ts';
import { type GoogleInstance, idOf, instanceOf, listInstances } from '../list/listing.ts';
import { requestIdOf } from '../names.ts';
import { needsInsert } from '../node-config.ts';
import { type GooglePlan, instanceBody, planLaunch } from './launch-request.ts';
import { CachedInstances } from './stopped.ts';

const mostPerCall = 1000;

/** Launches of machines of one cluster. */
export class GoogleLaunches {
  readonly #calls: GoogleCalls;
  readonly #stopped: CachedInstances;

  constructor(calls: GoogleCalls) {
    this.#calls = calls;
    this.#stopped = new CachedInstances(calls);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const { clock, launchWait } = this.#calls;
    const plan = planLaunch(this.#calls, request);
    // A name can be used again after a delete: what this token has made before is told by the operations alone.
    const earlier = await this.#earlier(plan, signal);
    const restarted = this.#restarts(plan) ? await this.#stopped.start(plan, signal) : [];
    const rest = request.count - restarted.length;
    const begun = earlier.length > 0 || rest <= 0 ? [] : await this.#begin(plan, rest, signal);
    const asked = earlier.length > 0 || begun.length > 0;
    if (!asked) return restarted;
    const until = clock.now() + launchWait;
    const open = [...begun, ...earlier.filter(isInsert)];
    const ended: Operation[] = [];
    for (const operation of open) ended.push(await waitFor(this.#calls, operation, until - clock.now(), signal));
    const made = await this.#answer(plan, ended, signal);
    if ('refused' in made && restarted.length === 0)
      throw refusalOf({ call: 'instances.insert', ...about(plan) }, made.refused);
    const launched = 'made' in made ? made.made : [];
    this.#calls.young.add(launched.map(({ id }) => id));
    const mine = new Set(restarted.map(({ id }) => id));
    return [...restarted, ...launched.filter(({ id }) => !mine.has(id))];
  }

  #restarts({ kind, request }: GooglePlan): boolean {
    const { config } = this.#calls.client.spec().provider;
    return config.cache_stopped_nodes === true && kind === 'worker' && request.market === 'on-demand';
  }

  /** Where no zone is asked for, preparing again may have put the same launch into another one. */
  async #earlier({ request, own, zone, prefix }: GooglePlan, signal: AbortSignal): Promise<readonly Operation[]> {
    const zones = request.zone === undefined ? own.zones : [zone];
    const found = await Promise.all(zones.map((each) => operationsOn(this.#calls, each, prefix, signal)));
    return found.flat();
  }

  /** One call for all of them, or one for each where Google takes what they have only so. */
  async #begin(plan: GooglePlan, count: number, signal: AbortSignal): Promise<readonly Operation[]> {
    const names = Array.from({ length: count }, (_, index) => `${plan.prefix}${index}`);
    const parts =
      plan.kind === 'head' || needsInsert(plan.config)
        ? names.map((name) => () => this.#insert(plan, name, signal))
        : Array.from(
            { length: Math.ceil(count / mostPerCall) },
            (_, part) => () =>
              this.#bulkInsert(plan, names.slice(part * mostPerCall, (part + 1) * mostPerCall), signal),
          );
    const results = await Promise.allSettled(parts.map((part) => part()));
    const begun = results.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    const failures = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    // Of what is not refused it is not known whether it was made: the same launch again tells.
    const open = failures.find((error) => !isRefusal(error));
    if (open !== undefined) throw open;
    const [refusal] = failures;
    if (refusal !== undefined && begun.length === 0) throw refusal;
    return begun;
  }

  async #insert(plan: GooglePlan, name: string, signal: AbortSignal): Promise<readonly Operation[]> {
    const { client } = this.#calls;
    const { sourceInstanceTemplate: template } = plan.config;
    const body = { ...instanceBody(client, plan, 'link'), name };
    const query = typeof template === 'string' ? { sourceInstanceTemplate: template } : {};
    return await this.#post(plan, 'instances.insert', { path: 'instances', body, query, names: [name] }, signal);
  }

  async #bulkInsert(plan: GooglePlan, names: readonly string[], signal: AbortSignal): Promise<readonly Operation[]> {
    const { client } = this.#calls;
    const { sourceInstanceTemplate: template } = plan.config;
    const body = {
      count: String(names.length),
      minCount: '1',
      perInstanceProperties: Object.fromEntries(names.map((name) => [name, {}])),
      instanceProperties: instanceBody(client, plan, 'name'),
      ...(typeof template === 'string' && { sourceInstanceTemplate: template }),
    };
    const path = 'instances/bulkInsert';
    return await this.#post(plan, 'instances.bulkInsert', { path, body, query: {}, names }, signal);
  }

  async #post(
    plan: GooglePlan,
    call: string,
    asked: {
      readonly path: string;
      readonly body: unknown;
      readonly query: Readonly<Record<string, string>>;
      readonly names: readonly string[];
    },
    signal: AbortSignal,
  ): Promise<readonly Operation[]> {
    const { google, project, client } = this.#calls;
    const { zone, request, prefix } = plan;
    const { path, body, names } = asked;
    const requestId = requestIdOf(client.clusterId, request.token, zone, names[0]!);
    const url = computeUrl(project, `zones/${zone}/${path}`);
    try {
      const query = { ...asked.query, requestId };
      return [await google.ask<Operation>({ call, ...about(plan) }, { method: 'POST', url, query, body }, signal)];
    } catch (error) {
      // A name that is taken is this launch's own; and what Google could not answer may have been done all the same.
      const status = googleFailure(error)?.status;
      if (status !== 409 && status !== 503) throw error;
      const found = (await operationsOn(this.#calls, zone, prefix, signal)).filter(isInsert);
      const mine = found.filter((each) => names.includes(targetOf(each)));
      if (mine.length === 0) throw error;
      return mine;
    }
  }

  /** What became of the launch: its instances as far as they are there or on their way, or why there are none. */
  async #answer(
    plan: GooglePlan,
    waited: readonly Operation[],
    signal: AbortSignal,
  ): Promise<{ readonly made: readonly ProviderInstance[] } | { readonly refused: GoogleFailure }> {
    const { launchWait } = this.#calls;
    const earlyFailure = (each: Operation): GoogleFailure | undefined =>
      isLate(each, launchWait) ? undefined : failureOfOperation(each);
    const [operations, shown] = await Promise.all([this.#earlier(plan, signal), this.#shown(plan, signal)]);
    const inserts = operations.filter(isInsert);
    const gone = new Set(operations.filter(isEnd).map(targetOf));
    const failures: GoogleFailure[] = [];
    const made: ProviderInstance[] = [];
    const seen = new Map(shown.map((each) => [each.name, each]));
    // What a bulk insert takes back has been made before: only its own operation tells.
    const rolledBack = waited
      .filter((each) => !isInsert(each))
      .map(earlyFailure)
      .find((each) => each !== undefined);
    for (const operation of new Map(inserts.map((each) => [targetOf(each), each])).values()) {
      const name = targetOf(operation);
      const instance = seen.get(name);
      const failure = earlyFailure(operation) ?? rolledBack;
      if (instance !== undefined) made.push(this.#told(plan, instance));
      else if (gone.has(name)) continue;
      else if (failure !== undefined) failures.push(failure);
      else made.push(this.#pending(plan, operation));
    }
    if (rolledBack !== undefined) failures.push(rolledBack);
    const [refused] = failures;
    return made.length === 0 && refused !== undefined && gone.size === 0 ? { refused } : { made };
  }

  /** Those that carry the token now: others were started again for another launch since. */
  async #shown({ request, prefix }: GooglePlan, signal: AbortSignal): Promise<readonly GoogleInstance[]> {
    const filter = `labels.${rayTags.launchRequest} = "${toLabel(request.token)}"`;
    return (await listInstances(this.#calls, filter, signal)).filter(({ name }) => name.startsWith(prefix));
  }

  /** As the launch made it: lists may lag behind. */
  #told({ tags, request, kind }: GooglePlan, instance: GoogleInstance): ProviderInstance {
    const told = instanceOf(instance, this.#calls.typeNames);
    return {
      ...told,
      ...{ launchToken: request.token, type: request.type, kind },
      tags: { ...tags, ...told.tags },
    };
  }

  #pending({ tags, request, kind }: GooglePlan, operation: Operation): ProviderInstance {
    const zone = lastOf(operation.zone ?? '');
    return {
      id: idOf(zone, targetOf(operation)),
      ...{ launchToken: request.token, type: request.type, kind, zone, tags },
      state: 'pending',
      market: request.market,
      launchedAt: Date.parse(operation.insertTime ?? '') || this.#calls.clock.now(),
    };
  }
}

const about = ({ request, zone }: GooglePlan) => ({ type: request.type, zone, market: request.market });

const isRefusal = (error: unknown): boolean =>
  [providerErrors.NoCapacity, providerErrors.Quota, providerErrors.Throttled, providerErrors.Denied].some((kind) =>
    kind.is(error),
  );
