import { type EventSink, silent } from '../../base/events.ts';
import type { KubeClient } from '../../base/kube/client.ts';
import { kubeErrors } from '../../base/kube/errors.ts';
import { listAll } from '../../base/kube/list.ts';
import type { Clock, Duration, Instant } from '../../base/time/clock.ts';
import type { Json } from '../../core/kube/object.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../provider.ts';
import { kuberayEvents } from './events.ts';
import { type LaunchBook, readBook, type Seat, writeBook } from './launch-book.ts';
import {
  noteName,
  podsPath,
  readScaledCluster,
  readWorkerPod,
  type ScaledCluster,
  scalerManager,
  workersOf,
} from './ray-cluster.ts';
import { type Patience, type Settled, settle, usualPatience, type WantedGroup } from './settle.ts';

export interface KubeRayOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Of the RayCluster. */
  readonly name: string;
  readonly clock: Clock;
  /** The pod that this runs in, which is listed as the head, and its type. Nothing is ever done to it. */
  readonly head?: { readonly pod: string; readonly type: string };
  readonly events?: EventSink;
  readonly patience?: Patience;
  /** Sees the RayCluster each time it is read. */
  readonly onRead?: (cluster: Json) => void;
}

/** A change that somebody else got ahead of is made again on what there is now; so often in a row means something else. */
const tries = 10;
/** The operator makes pods within a moment. Replicas that have none by then are listed without. */
const podsWithin: Duration = 10_000;
const podsLook: Duration = 100;
/** For so long a launch is waited for by lists too. */
const youngFor: Duration = 2_000;

/** What is to become of the book; undefined: nothing more than what is due anyway. */
type Change = (settled: Settled) => LaunchBook | undefined;

/**
 * Pods of one RayCluster, which KubeRay's operator makes and ends: an instance is a worker's pod, and has its name. What was asked
 * for is written down on the RayCluster itself (`launch-book.ts`), so that a head which has lost everything else finds it there.
 * The role of a head pod may read and patch it, and list pods.
 */
export class KubeRayProvider implements Provider {
  readonly slices = true;
  readonly #options: KubeRayOptions;
  readonly #path: string;
  readonly #told = new Set<string>();
  readonly #heads: readonly ProviderInstance[];

  constructor(options: KubeRayOptions) {
    this.#options = options;
    const inside = `namespaces/${encodeURIComponent(options.namespace)}`;
    const { head, clock } = options;
    this.#heads = head ? [headInstance(head, clock.now())] : [];
    this.#path = `/apis/ray.io/v1/${inside}/rayclusters/${encodeURIComponent(options.name)}`;
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { clock } = this.#options;
    let settled = await this.#change('list', () => undefined, signal);
    // An instance has its pod's name: a list of this moment would name what was just asked for in another way.
    for (const until = clock.now() + youngFor; clock.now() < until && hasYoung(settled.book, until - 2 * youngFor); ) {
      await clock.sleep(podsLook, signal);
      settled = await this.#change('list', () => undefined, signal);
    }
    return [...this.#heads, ...settled.instances];
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { clock } = this.#options;
    const { token } = request;
    let settled = await this.#change('launch', (now) => this.#booked(now, request), signal);
    // Their names are those of the pods, so those are waited for.
    for (const until = clock.now() + podsWithin; isWaited(settled.book, token) && clock.now() < until; ) {
      await clock.sleep(podsLook, signal);
      settled = await this.#change('launch', () => undefined, signal);
    }
    return settled.instances.filter(({ launchToken }) => launchToken === token);
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const endingSince = this.#options.clock.now();
    await this.#change(
      'terminate',
      (now) => withSeats(now, ids, (seat) => (seat.endingSince === undefined ? { ...seat, endingSince } : seat)),
      signal,
    );
  }

  async tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    await this.#change(
      'tag',
      (now) => {
        if (!now.instances.some((each) => each.id === id)) throw providerErrors.NotFound({ id });
        return withSeats(now, [id], (seat) => ({ ...seat, tags: { ...seat.tags, ...tags } }));
      },
      signal,
    );
  }

  #booked({ book, wanted }: Settled, { token, type, count, slice, tags }: LaunchRequest): LaunchBook | undefined {
    if (book.launches.some((launch) => launch.token === token)) return undefined;
    const found = wanted.find(({ group }) => group.name === type);
    const denied = (detail: string): Error => providerErrors.Denied({ call: 'launch', detail });
    if (found === undefined) throw denied(`the RayCluster has no worker group '${type}'`);
    const { group, replicas } = found;
    if ((slice?.hosts ?? 1) !== group.hosts) throw denied(`a replica of '${type}' has ${group.hosts} hosts`);
    const none = (detail: string): Error => providerErrors.NoCapacity({ type, detail });
    if (group.isSuspended) throw none('it is suspended');
    const given = Math.min(count, group.most - replicas);
    if (given <= 0) throw none(`its maxReplicas is ${group.most}`);
    const seats = Array.from({ length: given }, (_, n): Seat => ({ n, before: 0 }));
    return {
      ...book,
      launches: [...book.launches, { token, group: type, at: this.#options.clock.now(), tags, seats }],
    };
  }

  /** Looks, decides, and writes what differs in one patch that holds only if nobody else has changed it meanwhile. */
  async #change(call: string, change: Change, signal: AbortSignal): Promise<Settled> {
    signal.throwIfAborted();
    for (let tried = 1; ; tried++) {
      try {
        const { cluster, settled } = await this.#look(change, signal);
        const patch = patchOf(cluster, settled);
        if (patch.length > 0) await this.#patch(patch, signal);
        this.#tellReset(settled);
        return settled;
      } catch (error) {
        signal.throwIfAborted();
        const isRace = kubeErrors.Conflict.is(error) || kubeErrors.Invalid.is(error);
        if (!isRace || tried >= tries) throw asProviderError(error, call);
        await this.#options.clock.sleep(Math.min(20 * 2 ** tried, 500) * Math.random(), signal);
      }
    }
  }

  /** The pods after the cluster: one that is missing then is gone, and one that is new was asked for. */
  async #look(change: Change, signal: AbortSignal): Promise<{ cluster: ScaledCluster; settled: Settled }> {
    const { client, namespace, name, clock, patience = usualPatience, onRead } = this.#options;
    const object = (await client.json({ path: this.#path, call: `read the RayCluster '${name}'`, signal })) as Json;
    onRead?.(object);
    const cluster = readScaledCluster(object);
    const path = podsPath(namespace);
    const query = { labelSelector: workersOf(name) };
    const { items } = await listAll(client, { path, query, call: `list pods in the namespace '${namespace}'`, signal });
    const pods = (items as readonly Json[]).map(readWorkerPod);
    const now = clock.now();
    const settled = settle(cluster, readBook(cluster.note), pods, now, patience);
    const changed = change(settled);
    if (changed === undefined) return { cluster, settled };
    const groups = settled.wanted.map(({ group, ...wanted }) => ({ ...group, ...wanted }));
    const after = settle({ ...cluster, groups }, changed, pods, now, patience);
    return { cluster, settled: { ...after, reset: settled.reset } };
  }

  async #patch(body: readonly PatchStep[], signal: AbortSignal): Promise<void> {
    await this.#options.client.json({
      method: 'PATCH',
      path: this.#path,
      contentType: 'application/json-patch+json',
      query: { fieldManager: scalerManager },
      body,
      call: `patch the RayCluster '${this.#options.name}'`,
      signal,
    });
  }

  #tellReset({ reset }: Settled): void {
    for (const each of reset) {
      if (this.#told.has(each.group)) continue;
      this.#told.add(each.group);
      (this.#options.events ?? silent).emit(kuberayEvents.replicasReset, each);
    }
  }
}

const headInstance = ({ pod, type }: NonNullable<KubeRayOptions['head']>, launchedAt: Instant): ProviderInstance => ({
  id: pod,
  launchToken: '',
  type,
  kind: 'head',
  state: 'running',
  launchedAt,
  tags: {},
});

/** It is to have a pod, and has none yet. */
const isFree = ({ unit, failed, endingSince }: Seat): boolean => (unit ?? failed ?? endingSince) === undefined;

const isWaited = ({ launches }: LaunchBook, token: string): boolean =>
  launches.some((launch) => launch.token === token && launch.seats.some(isFree));

/** Something that was asked for after `since` has no pod yet. */
const hasYoung = ({ launches }: LaunchBook, since: Instant): boolean =>
  launches.some(({ at, seats }) => at > since && seats.some(isFree));

/** The book with other seats for these instances; undefined where none of them is there any more. */
function withSeats(
  { book, instances }: Settled,
  ids: readonly string[],
  change: (seat: Seat) => Seat,
): LaunchBook | undefined {
  const meant = instances.filter(({ id }) => ids.includes(id));
  if (meant.length === 0) return undefined;
  const isMeant = (token: string, { n, unit, pods = [] }: Seat): boolean =>
    meant.some(
      ({ id, launchToken }) =>
        launchToken === token && (unit === undefined ? seatOfId(id, token) === n : pods.includes(id)),
    );
  const launches = book.launches.map((launch) => ({
    ...launch,
    seats: launch.seats.map((seat) => (isMeant(launch.token, seat) ? change(seat) : seat)),
  }));
  return { ...book, launches };
}

/** The number of the seat in the name of an instance that has no pod yet. */
const seatOfId = (id: string, token: string): number =>
  id.startsWith(`${token}.`) ? Number.parseInt(id.slice(token.length + 1), 10) : Number.NaN;

type PatchStep = { readonly op: 'test' | 'add' | 'replace'; readonly path: string; readonly value: Json };

/**
 * Empty where nothing differs. Status writes change the RayCluster's version all the time, so that is not what is tested: what
 * the decision was made on is.
 */
function patchOf(cluster: ScaledCluster, { book, wanted }: Settled): readonly PatchStep[] {
  const note = writeBook(book);
  const changed = cluster.groups.map((group, at) => ({ ...wanted[at]!, group })).filter(differs);
  if (changed.length === 0 && (note === cluster.note || (cluster.note === undefined && book.launches.length === 0)))
    return [];
  const at = `/metadata/annotations/${noteName.replace('/', '~1')}`;
  const noted: readonly PatchStep[] =
    cluster.note === undefined
      ? [
          // There may be no annotations at all; this happens once.
          { op: 'test', path: '/metadata/resourceVersion', value: cluster.version },
          ...(cluster.hasAnnotations ? [] : [{ op: 'add', path: '/metadata/annotations', value: {} } as const]),
          { op: 'add', path: at, value: note },
        ]
      : [
          { op: 'test', path: at, value: cluster.note },
          { op: 'replace', path: at, value: note },
        ];
  return [...noted, ...changed.flatMap(groupSteps)];
}

const differs = ({ group, replicas, workersToDelete }: WantedGroup): boolean =>
  replicas !== group.replicas || workersToDelete.join() !== group.workersToDelete.join();

function groupSteps({ group, replicas, workersToDelete }: WantedGroup): readonly PatchStep[] {
  const at = `/spec/workerGroupSpecs/${group.at}`;
  return [
    { op: 'test', path: `${at}/groupName`, value: group.name },
    { op: 'test', path: `${at}/replicas`, value: group.replicas },
    { op: 'replace', path: `${at}/replicas`, value: replicas },
    { op: 'add', path: `${at}/scaleStrategy`, value: { workersToDelete } },
  ];
}

/** The error by which the autoscaler decides what to do next. */
function asProviderError(error: unknown, call: string): unknown {
  const detail = error instanceof Error ? error.message : String(error);
  if (kubeErrors.Forbidden.is(error) || kubeErrors.LoginRefused.is(error) || kubeErrors.NotFound.is(error))
    return providerErrors.Denied({ call, detail });
  if (kubeErrors.Failed.is(error) && error.data.status === 429) return providerErrors.Throttled({ call, detail });
  const isUnknown = [kubeErrors.Failed, kubeErrors.Unreachable, kubeErrors.Invalid, kubeErrors.Conflict];
  return isUnknown.some((kind) => kind.is(error)) ? providerErrors.Unreachable({ call, detail }) : error;
}
