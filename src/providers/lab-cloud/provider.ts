import type { Duration } from '../../base/time/clock.ts';
import { mantaTags, rayNodeName, rayTags } from '../../core/ray-tags.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { CloudClient, CloudCluster, CloudIdentity, CloudProvider, LastKnown, Remain } from '../clouds.ts';
import type { CloudModule } from '../descriptor.ts';
import { providerErrors } from '../errors.ts';
import type { InstanceAddress, LateRefusal, LaunchRequest, ProviderInstance } from '../provider.ts';
import { type CloudInstance, type CloudPage, instantOf, type MachineType, type Price, pageProblem } from './answers.ts';
import { CloudRefusal, type LabCloudCall, LabCloudClient } from './client.ts';
import { completeFromCatalog } from './complete.ts';
import { type LabCloudSpec, readLabCloud, readToken } from './spec.ts';

export interface LabCloudOptions {
  /** Asked at each call, so that a changed cluster file counts at once. */
  readonly spec: () => LabCloudSpec;
  /** Asked at each call. */
  readonly token: () => string;
  readonly cluster: string;
  /** Tells clusters of one name apart; instances of another id are none of this cluster's. */
  readonly clusterId: string;
  /** Who logs in to instances: the user is made there, with this key. */
  readonly login: () => { readonly user: string; readonly publicKey: string };
  /** What workers run at their first boot. Absent: nothing. */
  readonly bootProgram?: () => string;
  /** How long a call may take. @default 30 s */
  readonly deadline?: Duration;
}

export const openCloud = (client: CloudClient): CloudProvider => labCloud(client);

const labCloud = ({ spec, identity, ...client }: CloudClient): LabCloudProvider =>
  new LabCloudProvider({ ...client, spec: () => readLabCloud(spec()), token: () => tokenOf(identity(), spec()) });

export const clustersOf: NonNullable<CloudModule['clustersOf']> = async (client, signal) =>
  await labCloud(client).clusters(signal);

/** Machines of a lab cloud have no identity of their own. */
export const headIdentity: CloudModule['headIdentity'] = (spec, env) => ({
  kind: 'file',
  text: readToken(readLabCloud(spec).token, env),
});

function tokenOf(identity: CloudIdentity, spec: ClusterSpec): string {
  switch (identity.kind) {
    case 'user':
      return readToken(readLabCloud(spec).token, identity.env);
    case 'file':
      return identity.text.trim();
    case 'machine':
      throw providerErrors.Denied({ call: 'sign in', detail: 'machines of a lab cloud have no identity of their own' });
  }
}

/** Ties an instance to one cluster, whatever others of that name there are. */
const clusterIdTag = 'manta-cluster-id';

const mostPages = 10_000;

/**
 * Instances of a lab cloud. It keeps nothing: the cloud's own tags and client tokens are the truth, so that any number of
 * heads may come and go. It tries nothing again either; that is for the caller, who knows how long the answer is wanted.
 */
export class LabCloudProvider implements CloudProvider {
  readonly slices = true;
  readonly #options: LabCloudOptions;
  /** Tokens that were asked for here: what stops later is not theirs. */
  readonly #launched = new Set<string>();

  constructor(options: LabCloudOptions) {
    this.#options = options;
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    return (await this.#list({}, signal)).map(instanceOf);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const kind = request.tags[rayTags.kind] === 'head' ? 'head' : 'worker';
    const mayStart = kind === 'worker' && request.slice === undefined && this.#options.spec().keepsStopped;
    const started = mayStart ? await this.#startStopped(request, signal) : [];
    if (started.length >= request.count) return started.map(instanceOf);
    const body = this.#launchBody({ ...request, count: request.count - started.length }, kind);
    const about = { call: 'launch', type: request.type, zone: body.zone, market: request.market };
    try {
      const made = await this.#page(about, 'POST', '/v1/instances', signal, body);
      return [...started, ...made.instances.filter(isShown)].map(instanceOf);
    } catch (error) {
      // The file has changed since the first call under this token: what that one made is the answer.
      if (error instanceof Error && error.cause instanceof CloudRefusal && error.cause.code === 'ClientTokenReused') {
        const made = await this.#list({ [rayTags.launchRequest]: request.token }, signal);
        // None may mean that the list lags behind.
        if (made.length === 0) throw providerErrors.Unreachable({ call: 'launch', detail: error.message }, error);
        return made.map(instanceOf);
      }
      // Fewer than asked for.
      if (started.length > 0 && (providerErrors.NoCapacity.is(error) || providerErrors.Quota.is(error)))
        return started.map(instanceOf);
      throw error;
    }
  }

  #launchBody(request: LaunchRequest, kind: 'head' | 'worker') {
    const { cluster, clusterId, login, bootProgram, spec } = this.#options;
    const { types, zones } = spec();
    const type = types.get(request.type);
    if (type === undefined)
      throw providerErrors.Denied({ call: 'launch', detail: `there is no node type '${request.type}'` });
    const zone = request.zone ?? type.zone ?? zones[0];
    const { user, publicKey } = login();
    return {
      client_token: this.#clientToken(request),
      machine_type: type.machineType,
      ...(zone !== undefined && { zone }),
      market: request.market,
      count: request.count,
      ...(request.slice !== undefined && { slice: request.slice }),
      tags: {
        [rayTags.name]: rayNodeName(cluster, kind),
        ...request.tags,
        [rayTags.cluster]: cluster,
        [clusterIdTag]: clusterId,
        [rayTags.kind]: kind,
        [rayTags.type]: request.type,
        [rayTags.launchRequest]: request.token,
      },
      login: { user, public_key: publicKey },
      ...(kind === 'worker' && bootProgram !== undefined && { user_data: bootProgram() }),
      on_shutdown: 'terminate',
    };
  }

  #clientToken({ token }: LaunchRequest): string {
    return `${this.#options.clusterId}/${token}`;
  }

  /**
   * Stopped instances that are what is asked for, started under the token of this launch. Each is tagged before it is
   * started: a call that is repeated finds those of the first, and no others.
   */
  async #startStopped(request: LaunchRequest, signal: AbortSignal): Promise<readonly CloudInstance[]> {
    const listed = await this.#list({}, signal);
    const ofToken = listed.filter(({ tags }) => tags[rayTags.launchRequest] === request.token);
    const own = ofToken.filter(({ client_token }) => client_token !== this.#clientToken(request));
    const known = ofToken.length > 0 || this.#launched.has(request.token);
    this.#launched.add(request.token);
    const fitting = known ? [] : listed.filter((each) => isStoppedLike(each, request)).slice(0, request.count);
    for (const { id } of fitting)
      await this.tag(id, { ...request.tags, [rayTags.launchRequest]: request.token }, signal);
    return Promise.all([...own, ...fitting].map((each) => this.#start(each, signal)));
  }

  async #start(instance: CloudInstance, signal: AbortSignal): Promise<CloudInstance> {
    if (instance.state !== 'stopped') return instance;
    const about = { call: 'start', id: instance.id, zone: instance.zone, market: instance.market };
    const started = await this.#ask(about, 'POST', `${pathOf(instance.id)}/start`, signal);
    return started as unknown as CloudInstance;
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (ids.length > 0) await this.#ask({ call: 'terminate' }, 'POST', '/v1/instances/terminate', signal, { ids });
  }

  async tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    await this.#ask({ call: 'tag', id }, 'POST', `${pathOf(id)}/tags`, signal, tags);
  }

  /** The machine is switched off and its disk stays; it keeps costing money. */
  async stop(ids: readonly string[], signal: AbortSignal): Promise<void> {
    for (const id of ids)
      await this.#ask({ call: 'stop', id }, 'POST', `${pathOf(id)}/stop`, signal).catch((error: unknown) => {
        // One that is gone is as good as stopped.
        if (!providerErrors.NotFound.is(error)) throw error;
      });
  }

  /** What the machine has said since its first boot. */
  async consoleOutput(id: string, signal: AbortSignal): Promise<string> {
    return String((await this.#ask({ call: 'console', id }, 'GET', `${pathOf(id)}/console`, signal))['output']);
  }

  /** What the cloud sells, and for how much at this moment. */
  async catalog(
    signal: AbortSignal,
  ): Promise<{ readonly types: readonly MachineType[]; readonly prices: readonly Price[] }> {
    const [types, prices] = await Promise.all([
      this.#ask({ call: 'machine-types' }, 'GET', '/v1/machine-types', signal),
      this.#ask({ call: 'prices' }, 'GET', '/v1/prices', signal),
    ]);
    return { types: types['machine_types'] as MachineType[], prices: prices['prices'] as Price[] };
  }

  async learn(signal: AbortSignal): Promise<(spec: ClusterSpec) => ClusterSpec> {
    const catalog = await this.catalog(signal);
    return (spec) => completeFromCatalog(spec, catalog);
  }

  async lastKnown(id: string, signal: AbortSignal): Promise<LastKnown | undefined> {
    try {
      const answer = await this.#ask({ call: 'get', id }, 'GET', pathOf(id), signal);
      const { state, tags, reason } = answer as unknown as CloudInstance;
      const ended = state === 'terminating' || state === 'terminated';
      return { ended, tags, ...(ended && reason !== undefined && { reason }) };
    } catch (error) {
      if (providerErrors.NotFound.is(error)) return undefined;
      throw error;
    }
  }

  /** Clusters of this name, whatever their ids. */
  async clusters(signal: AbortSignal): Promise<readonly CloudCluster[]> {
    const ids = Map.groupBy(await this.#listAll({}, signal), ({ tags }) => tags[clusterIdTag] ?? '');
    return [...ids].map(([id, instances]) => ({ id, instances: instances.map((each) => each.id) }));
  }

  /** A lab cloud has nothing but instances. */
  async release(): Promise<void> {}

  async remains(): Promise<readonly Remain[]> {
    return [];
  }

  /** Every page, or an error: a part of the list would make instances look gone. */
  async #list(tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly CloudInstance[]> {
    return await this.#listAll({ [clusterIdTag]: this.#options.clusterId, ...tags }, signal);
  }

  async #listAll(tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly CloudInstance[]> {
    const found = new Map<string, CloudInstance>();
    const mine = { [rayTags.cluster]: this.#options.cluster, ...tags };
    const filter = Object.entries(mine).map(([name, value]): [string, string] => [`tag.${name}`, value]);
    let next: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const query = new URLSearchParams(filter);
      if (next !== undefined) query.set('page_token', next);
      const answer = await this.#page({ call: 'list' }, 'GET', `/v1/instances?${query.toString()}`, signal);
      for (const instance of answer.instances) found.set(instance.id, instance);
      if (answer.next_page === undefined) return [...found.values()].filter((each) => isShown(each) && isOwn(each));
      next = answer.next_page;
    }
    throw providerErrors.Unreachable({ call: 'list', detail: `the list has more than ${mostPages} pages` });
  }

  async #page(
    about: LabCloudCall,
    method: string,
    path: string,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<CloudPage> {
    const answer = await this.#ask(about, method, path, signal, body);
    const problem = pageProblem(answer);
    if (problem !== undefined) throw providerErrors.Unreachable({ call: about.call, detail: problem });
    return answer as unknown as CloudPage;
  }

  #ask(
    about: LabCloudCall,
    method: string,
    path: string,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const { spec, token, deadline = 30_000 } = this.#options;
    return new LabCloudClient({ endpoint: spec().endpoint, token, deadline }).ask(about, method, path, signal, body);
  }
}

const pathOf = (id: string): string => `/v1/instances/${encodeURIComponent(id)}`;

/** It is there, or was refused after it was accepted. */
const isShown = ({ state, refused }: CloudInstance): boolean => state !== 'terminated' || refused !== undefined;

const isStoppedLike = (instance: CloudInstance, request: LaunchRequest): boolean =>
  instance.state === 'stopped' &&
  instance.slice === undefined &&
  instance.tags[rayTags.kind] === 'worker' &&
  instance.tags[rayTags.type] === request.type &&
  instance.tags[mantaTags.launchHash] === request.tags[mantaTags.launchHash] &&
  instance.market === request.market &&
  (request.zone === undefined || instance.zone === request.zone);

/** Ray's mark for machines that somebody else keeps: they are neither set up nor ended. */
const isOwn = ({ tags }: CloudInstance): boolean => tags[rayTags.kind] !== 'unmanaged';

const instanceOf = (instance: CloudInstance): ProviderInstance => ({
  id: instance.id,
  launchToken: instance.tags[rayTags.launchRequest] ?? '',
  type: instance.tags[rayTags.type] ?? '',
  kind: instance.tags[rayTags.kind] === 'head' ? 'head' : 'worker',
  state: instance.state === 'terminating' || instance.state === 'terminated' ? 'stopping' : instance.state,
  zone: instance.zone,
  market: instance.market,
  launchedAt: instantOf(instance.launched_at),
  tags: instance.tags,
  address: addressOf(instance),
  ...(instance.preemption_at !== undefined && { preemptionAt: instantOf(instance.preemption_at) }),
  ...(instance.refused !== undefined && { failed: lateRefusal(instance.refused) }),
  ...(instance.slice !== undefined && { slice: instance.slice }),
});

const lateRefusal = ({ code, message }: NonNullable<CloudInstance['refused']>): LateRefusal => ({
  kind: code === 'no-capacity' || code === 'quota' ? code : 'denied',
  detail: message,
});

const addressOf = ({ address, outside }: CloudInstance): InstanceAddress => ({
  ...(address !== undefined && { inside: address }),
  ...(outside !== undefined && { outside }),
});
