import { ownValue } from '../../../base/own-value.ts';
import { mantaTags, rayTags } from '../../../core/ray-tags.ts';
import { providerErrors } from '../../errors.ts';
import type { ProviderInstance } from '../../provider.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl, lastOf } from '../client/links.ts';
import { failureOfOperation, type Operation, waitFor } from '../client/operations.ts';
import { googleFailure } from '../client/refusals.ts';
import { fromLabel, toLabel } from '../labels.ts';
import { type GoogleInstance, idOf, instanceOf, listCluster } from '../list/listing.ts';
import { isStale, setLabels, tagInstance } from '../tagging.ts';
import type { GooglePlan } from './launch-request.ts';

/** Instances that were stopped to be started again in place of new ones. */
export class CachedInstances {
  readonly #calls: GoogleCalls;
  /** By the token that they were taken for: lists may show the earlier one for a while. */
  readonly #taken = new Map<string, string>();

  constructor(calls: GoogleCalls) {
    this.#calls = calls;
  }

  /**
   * Starts as many as the launch asks for, of its type and launch hash. They carry its token before they are started, so that
   * the same launch again finds them.
   */
  async start(plan: GooglePlan, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { request, tags, zone, prefix } = plan;
    const hash = tags[mantaTags.launchHash];
    const known = (await listCluster(this.#calls, signal)).filter(
      ({ labels = {}, zone: at }) =>
        lastOf(at) === zone &&
        labels[rayTags.type] === toLabel(request.type) &&
        (hash === undefined || labels[mantaTags.launchHash] === toLabel(hash)),
    );
    const tokenOf = (each: GoogleInstance): string =>
      this.#taken.get(idOf(each.zone, each.name)) ?? ownValue(each.labels ?? {}, rayTags.launchRequest) ?? '';
    const token = toLabel(request.token);
    const ofThis = known.filter((each) => tokenOf(each) === token);
    const mine = ofThis.filter(({ name }) => !name.startsWith(prefix));
    const free = known.filter(
      (each) => isStopped(each) && instanceOf(each, []).market === 'on-demand' && !ofThis.includes(each),
    );
    const taken =
      ofThis.length > mine.length ? [] : await this.#take(free, request.count - ofThis.length, request.token, signal);
    const started = await Promise.all(
      [...mine, ...taken].map(async (each) => (!isStopped(each) || (await this.#start(each, signal)) ? [each] : [])),
    );
    return started.flat().map((each) => {
      const { state, tags: shown, ...instance } = instanceOf(each, this.#calls.typeNames);
      return {
        ...instance,
        launchToken: request.token,
        state: state === 'stopped' ? 'pending' : state,
        tags: { ...shown, [rayTags.launchRequest]: request.token },
      };
    });
  }

  /** Whose labels could be written are this launch's: the fingerprint lets only one have each. */
  async #take(
    free: readonly GoogleInstance[],
    count: number,
    token: string,
    signal: AbortSignal,
  ): Promise<readonly GoogleInstance[]> {
    const taken: GoogleInstance[] = [];
    for (const each of free) {
      if (taken.length >= count) break;
      try {
        await setLabels(this.#calls, each, { [rayTags.launchRequest]: token }, signal);
        this.#taken.set(idOf(each.zone, each.name), toLabel(token));
        taken.push(each);
      } catch (error) {
        if (!isStale(error) && !providerErrors.NotFound.is(error)) throw error;
      }
    }
    return taken;
  }

  /** False where there is no room for it, or somebody was faster: then it is what it was before. */
  async #start(instance: GoogleInstance, signal: AbortSignal): Promise<boolean> {
    const { google, project, launchWait } = this.#calls;
    const { zone, name, labels = {} } = instance;
    const id = idOf(zone, name);
    const url = computeUrl(project, `zones/${lastOf(zone)}/instances/${name}/start`);
    try {
      const operation = await google.ask<Operation>({ call: 'instances.start', id }, { method: 'POST', url }, signal);
      if (failureOfOperation(await waitFor(this.#calls, operation, launchWait, signal)) === undefined) return true;
    } catch (error) {
      if (googleFailure(error)?.reason === 'resourceNotReady') return true;
      if (!providerErrors.NotFound.is(error) && !providerErrors.NoCapacity.is(error) && !providerErrors.Quota.is(error))
        throw error;
    }
    this.#taken.delete(id);
    const before = { [rayTags.launchRequest]: fromLabel(labels[rayTags.launchRequest] ?? '') };
    await tagInstance(this.#calls, id, before, signal).catch((error: unknown) => {
      if (!providerErrors.NotFound.is(error)) throw error;
    });
    return false;
  }
}

const isStopped = ({ status }: GoogleInstance): boolean => status === 'TERMINATED' || status === 'STOPPED';
