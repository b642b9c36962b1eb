import { doubling, retry } from '../../../base/time/retry.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { PreparationPlan, PreparationRequest } from '../../clouds.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { providerErrors } from '../../errors.ts';
import { GoogleClient } from '../client/client.ts';
import { computeUrl, tpuUrl } from '../client/links.ts';
import { preparationErrors } from '../errors.ts';
import { addressOfLogin, projectOfLogin } from './login.ts';
import { explain } from './refused.ts';

/** What is told of one concern once it was looked at. */
export type Looked = Pick<PreparationPlan, 'steps' | 'warnings'>;

export interface GoogleCall {
  /** As its documents name it: `compute.machineTypes.get`. */
  readonly call: string;
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  /** Whether it changes nothing. @default true for GET */
  readonly reads?: boolean;
}

const mostTries = { throttled: 8, noAnswer: 3 };

/** One preparation: which cluster, where, and how Google is asked. */
export class GoogleScene {
  readonly client: GoogleClient;
  readonly request: PreparationRequest;
  readonly spec: ClusterSpec;
  readonly project: string;
  /** Whether the file leaves the project to the credentials. */
  readonly projectIsOfLogin: boolean;
  readonly region: string;
  readonly env: CommandEnvironment;
  readonly signal: AbortSignal;

  private constructor(
    request: PreparationRequest,
    signal: AbortSignal,
    found: Pick<GoogleScene, 'client' | 'spec' | 'project' | 'projectIsOfLogin' | 'region'>,
  ) {
    const identity = request.identity();
    this.request = request;
    this.signal = signal;
    this.env = identity.kind === 'user' ? identity.env : {};
    ({ client: this.client, spec: this.spec, project: this.project, region: this.region } = found);
    this.projectIsOfLogin = found.projectIsOfLogin;
  }

  static async open(request: PreparationRequest, signal: AbortSignal): Promise<GoogleScene> {
    const spec = request.spec();
    const { region, project_id: named, gcp_credentials: given } = spec.provider.config;
    if (!isText(region))
      throw preparationErrors.BadFile({
        at: ['provider', 'region'],
        problem: 'is missing',
        hint: 'name the region of the instances, such as us-west1',
      });
    const [identity, credentials] = [request.identity(), mapOf(given)];
    const project = isText(named) ? named : await projectOfLogin(identity, credentials);
    if (project === undefined) throw preparationErrors.NoProject({});
    const client = new GoogleClient({ identity, given: credentials, clock: request.clock });
    return new GoogleScene(request, signal, { client, spec, project, projectIsOfLogin: !isText(named), region });
  }

  /** The address of who asks; undefined where that cannot be learned. */
  async caller(): Promise<string | undefined> {
    return await addressOfLogin(this.request.identity(), mapOf(this.spec.provider.config.gcp_credentials));
  }

  /** URL of something in Compute Engine, `path` from the project on. */
  compute(path: string, project = this.project): string {
    return computeUrl(encodeURIComponent(project), path).replace(/\/$/, '');
  }

  /** The same for TPUs, `path` from the zone on. */
  tpu(path: string): string {
    return tpuUrl(`projects/${encodeURIComponent(this.project)}/locations/${path}`);
  }

  /** Who has the rules and accounts of IAM. */
  iam(path: string): string {
    return `https://iam.googleapis.com/v1/projects/${encodeURIComponent(this.project)}/${path}`;
  }

  resourceManager(verb: string): string {
    return `https://cloudresourcemanager.googleapis.com/v1/projects/${encodeURIComponent(this.project)}:${verb}`;
  }

  /**
   * Makes a call. One that was throttled is made again, and one that only reads also when no answer came. Throws what the
   * user is to be told; `isStatus` tells by Google's own status.
   */
  async ask<Result>({ call, method = 'GET', reads = method === 'GET', ...asked }: GoogleCall): Promise<Result> {
    const { request, signal } = this;
    try {
      return await retry(() => this.client.ask<Result>({ call }, { method, ...asked }, signal), {
        clock: request.clock,
        signal,
        pause: doubling(200, 5_000),
        again: (error, tries) =>
          providerErrors.Throttled.is(error)
            ? tries < mostTries.throttled
            : reads && providerErrors.Unreachable.is(error) && tries < mostTries.noAnswer,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, call, this.project) ?? error;
    }
  }

  /** All pages of a list, each item once; `member` is what the list is called in an answer. */
  async askAll<Item>(member: string, asked: GoogleCall): Promise<readonly Item[]> {
    const all: Item[] = [];
    for (let next: string | undefined; ; ) {
      const query = { ...asked.query, ...(next !== undefined && { pageToken: next }) };
      const page = await this.ask<Readonly<Record<string, unknown>>>({ ...asked, query });
      all.push(...((page[member] as readonly Item[] | undefined) ?? []));
      const { nextPageToken: token } = page;
      next = typeof token === 'string' && token !== '' ? token : undefined;
      if (next === undefined) return all;
    }
  }
}
