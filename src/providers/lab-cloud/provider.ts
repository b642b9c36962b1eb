import type { Duration } from '../../base/clock.ts';
import { rayNodeName, rayTags } from '../../core/ray-tags.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { CloudProvider, LastKnown } from '../clouds.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, ProviderInstance } from '../provider.ts';
import { type CloudInstance, type CloudPage, instantOf, type MachineType, type Price, pageProblem } from './answers.ts';
import { type About, CloudRefusal, LabCloudClient } from './client.ts';
import { completeFromCatalog } from './complete.ts';
import type { LabCloudSpec } from './spec.ts';

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

/** Ties an instance to one cluster, whatever others of that name there are. */
const clusterIdTag = 'manta-cluster-id';

const mostPages = 10_000;

/**
 * Instances of a lab cloud. It keeps nothing: the cloud's own tags and client tokens are the truth, so that any number of
 * heads may come and go. It tries nothing again either; that is for whoever knows how long the answer is wanted.
 */
export class LabCloudProvider implements CloudProvider {
  readonly #options: LabCloudOptions;

  constructor(options: LabCloudOptions) {
    this.#options = options;
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    return (await this.#list({}, signal)).map(instanceOf);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const { cluster, clusterId, login, bootProgram, spec } = this.#options;
    const { types, zones } = spec();
    const type = types.get(request.type);
    if (type === undefined)
      throw providerErrors.Denied({ call: 'launch', detail: `there is no node type '${request.type}'` });
    const zone = request.zone ?? type.zone ?? zones[0];
    const kind = request.tags[rayTags.kind] === 'head' ? 'head' : 'worker';
    const { user, publicKey } = login();
    const body = {
      client_token: `${clusterId}/${request.token}`,
      machine_type: type.machineType,
      ...(zone !== undefined && { zone }),
      market: request.market,
      count: request.count,
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
    const about = { call: 'launch', type: request.type, zone, market: request.market };
    try {
      const made = await this.#page(about, 'POST', '/v1/instances', signal, body);
      return made.instances.filter(isThere).map(instanceOf);
    } catch (error) {
      // The file has changed since the first call under this token: what that one made is the answer.
      if (!(error instanceof Error && error.cause instanceof CloudRefusal && error.cause.code === 'ClientTokenReused'))
        throw error;
      const made = await this.#list({ [rayTags.launchRequest]: request.token }, signal);
      // None may mean that the list lags behind.
      if (made.length === 0) throw providerErrors.Unreachable({ call: 'launch', detail: error.message }, error);
      return made.map(instanceOf);
    }
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (ids.length > 0) await this.#ask({ call: 'terminate' }, 'POST', '/v1/instances/terminate', signal, { ids });
  }

  async tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    await this.#ask({ call: 'tag', id }, 'POST', `${pathOf(id)}/tags`, signal, tags);
  }

  /** The machine is switched off and its disk stays; it goes on costing. */
  async stop(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask({ call: 'stop', id }, 'POST', `${pathOf(id)}/stop`, signal);
  }

  async start(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask({ call: 'start', id }, 'POST', `${pathOf(id)}/start`, signal);
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

  /** Every page, or an error: a part of the list would make instances look gone. */
  async #list(tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly CloudInstance[]> {
    const found = new Map<string, CloudInstance>();
    const mine = { [rayTags.cluster]: this.#options.cluster, [clusterIdTag]: this.#options.clusterId, ...tags };
    const filter = Object.entries(mine).map(([name, value]): [string, string] => [`tag.${name}`, value]);
    let next: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const query = new URLSearchParams(filter);
      if (next !== undefined) query.set('page_token', next);
      const answer = await this.#page({ call: 'list' }, 'GET', `/v1/instances?${query.toString()}`, signal);
      for (const instance of answer.instances) found.set(instance.id, instance);
      if (answer.next_page === undefined) return [...found.values()].filter((each) => isThere(each) && isOwn(each));
      next = answer.next_page;
    }
    throw providerErrors.Unreachable({ call: 'list', detail: `the list has not ended after ${mostPages} pages` });
  }

  async #page(about: About, method: string, path: string, signal: AbortSignal, body?: unknown): Promise<CloudPage> {
    const answer = await this.#ask(about, method, path, signal, body);
    const problem = pageProblem(answer);
    if (problem !== undefined) throw providerErrors.Unreachable({ call: about.call, detail: problem });
    return answer as unknown as CloudPage;
  }

  #ask(
    about: About,
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

const isThere = ({ state }: CloudInstance): boolean => state !== 'terminated';

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
  ...(instance.address !== undefined && { address: instance.address }),
  ...(instance.preemption_at !== undefined && { preemptionAt: instantOf(instance.preemption_at) }),
});
