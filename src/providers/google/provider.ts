import { ownValue } from '../../base/own-value.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import type { Clock, Duration, Instant } from '../../base/time/clock.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { CloudClient, CloudProvider, LastKnown, Remain } from '../clouds.ts';
import type { CloudModule } from '../descriptor.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../provider.ts';
import { GoogleCalls } from './client/calls.ts';
import { computeApi, lastOf, metadataUrl, tpuApi } from './client/links.ts';
import { isEnd, operationsOn } from './client/operations.ts';
import { completeFromPrepared } from './complete.ts';
import { stopInstances, terminateInstances } from './end/ending.ts';
import { releaseMade } from './end/release.ts';
import { findRemains } from './end/remains.ts';
import { clusterIdTag, fromLabels, ofName } from './labels.ts';
import { GoogleLaunches } from './launch/launches.ts';
import {
  failuresLast,
  hasAccelerators,
  idOf,
  instanceOf,
  isOwn,
  lateRefusals,
  listCluster,
  listInstances,
  placeOf,
} from './list/listing.ts';
import { GoogleNotices } from './list/notices.ts';
import { getInstance, tagInstance } from './tagging.ts';
import { hasSlices, slicesOfName } from './tpu/calls.ts';
import { hostPlace, zoneOfNode } from './tpu/node.ts';
import { lastKnownSlice, tagSlice, terminateSlices } from './tpu/slice-ending.ts';
import { lateSlices, listSlices } from './tpu/slice-list.ts';
import { Repairs, SliceLaunches } from './tpu/slices.ts';

const deleteSelf = readShell(new URL('./end/delete-self.sh', import.meta.url));

export { headIdentity } from './client/credentials.ts';
export { policies } from './prepare/policies.ts';
export { admitHead, planPreparation, prepare } from './prepare/prepare.ts';

/** Clusters of this name that the project shows, whatever their ids. */
export const clustersOf: NonNullable<CloudModule['clustersOf']> = async (client, signal) => {
  const calls = new GoogleCalls(client, wallClock);
  const [found, slices] = await Promise.all([
    listInstances(calls, ofName(client.cluster), signal),
    hasSlices(calls) ? slicesOfName(calls, signal) : [],
  ]);
  const all = [
    ...found.map(({ labels, zone, name }) => ({ id: fromLabels(labels)[clusterIdTag] ?? '', at: idOf(zone, name) })),
    ...slices.map(({ id, name }) => ({ id, at: `${zoneOfNode(name)}/${lastOf(name)}` })),
  ];
  return [...Map.groupBy(all, ({ id }) => id)].map(([id, its]) => ({
    id,
    instances: [...new Set(its.map(({ at }) => at))],
  }));
};

export const openCloud = (client: CloudClient): CloudProvider => new GoogleProvider(client);

/**
 * Instances of Compute Engine and slices of TPUs. It keeps nothing that matters: labels, names and operations are the truth, so
 * that any number of heads may come and go. Everything that it launches with was prepared on the laptop.
 */
export class GoogleProvider implements CloudProvider {
  readonly slices = true;
  readonly endProgram = shellProgram(deleteSelf, { metadata: metadataUrl, compute: computeApi, tpu: tpuApi });
  readonly notices: GoogleNotices;
  readonly #calls: GoogleCalls;
  readonly #launches: GoogleLaunches;
  readonly #slices: SliceLaunches;
  readonly #repairs = new Repairs();
  /** Until when an insert may fail that nobody has been told of. */
  #failuresUntil: Instant;

  constructor(client: CloudClient, clock: Clock = wallClock, launchWait?: Duration) {
    this.notices = new GoogleNotices(clock);
    this.#calls = new GoogleCalls(client, clock, launchWait);
    this.#launches = new GoogleLaunches(this.#calls);
    this.#slices = new SliceLaunches(this.#calls);
    this.#failuresUntil = clock.now() + failuresLast;
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { clock, young, typeNames } = this.#calls;
    const watches = clock.now() < this.#failuresUntil;
    const tpu = hasSlices(this.#calls);
    const [shown, slices, failed, failedSlices] = await Promise.all([
      listCluster(this.#calls, signal),
      tpu ? listSlices(this.#calls, this.#repairs, signal) : [],
      watches ? lateRefusals(this.#calls, signal) : [],
      watches && tpu ? lateSlices(this.#calls, this.#slices, signal) : [],
    ]);
    const gpus = new Set(shown.flatMap((each) => (hasAccelerators(each) ? [idOf(each.zone, each.name)] : [])));
    const found = [...shown.map((each) => instanceOf(each, typeNames)), ...slices];
    const ids = new Set(found.map(({ id }) => id));
    young.forget(ids);
    this.notices.keep(ids);
    const told = found.map((each): ProviderInstance => {
      const preemptionAt = this.notices.endOf(each.id, gpus.has(each.id));
      return preemptionAt === undefined ? each : { ...each, preemptionAt };
    });
    return [...told, ...[...failed, ...failedSlices].filter(({ id }) => !ids.has(id))].filter(isOwn);
  }

  launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    this.#failuresUntil = this.#calls.clock.now() + failuresLast;
    const { prepared } = this.#calls;
    const isSlice = prepared && ownValue(prepared.types, request.type)?.kind === 'tpu';
    return isSlice ? this.#slices.launch(request, signal) : this.#launches.launch(request, signal);
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.all([terminateInstances(this.#calls, ids, signal), terminateSlices(this.#calls, ids, signal)]);
  }

  tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    return hostPlace(id) === undefined
      ? tagInstance(this.#calls, id, tags, signal)
      : tagSlice(this.#calls, id, tags, signal);
  }

  stop(ids: readonly string[], signal: AbortSignal): Promise<void> {
    return stopInstances(this.#calls, ids, signal);
  }

  learn(signal: AbortSignal): Promise<(spec: ClusterSpec) => ClusterSpec> {
    signal.throwIfAborted();
    const { prepared } = this.#calls;
    return Promise.resolve((spec) => (prepared === undefined ? spec : completeFromPrepared(spec, prepared)));
  }

  async lastKnown(id: string, signal: AbortSignal): Promise<LastKnown | undefined> {
    const place = placeOf(id);
    if (place === undefined) return hostPlace(id) === undefined ? undefined : lastKnownSlice(this.#calls, id, signal);
    try {
      const instance = await getInstance(this.#calls, id, signal);
      return { ended: false, tags: fromLabels(instance.labels, this.#calls.typeNames) };
    } catch (error) {
      if (!providerErrors.NotFound.is(error)) throw error;
    }
    const found = await operationsOn(this.#calls, place.zone, place.name, signal);
    const end = found.find(isEnd);
    if (found.length === 0) return undefined;
    const reason = end?.statusMessage ?? end?.operationType;
    return { ended: true, tags: {}, ...(reason !== undefined && { reason }) };
  }

  release(signal: AbortSignal): Promise<void> {
    return releaseMade(this.#calls, signal);
  }

  remains(signal: AbortSignal): Promise<readonly Remain[]> {
    return findRemains(this.#calls, signal);
  }
}
