/** What machines learn about themselves at `metadata.google.internal`. Who asks is told by the address. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CloudInstance } from '../cloud/instance.ts';
import { writeProfile } from './access/os-login.ts';
import { lookUp, Refusal, type Tree } from './metadata-tree.ts';
import { fingerprintOf, numberOf } from './names.ts';
import type { Project } from './project.ts';
import type { NodeBody } from './shapes.ts';
import { type TpuType, topologyOf } from './tpu-catalog.ts';
import type { GoogleWorld } from './world.ts';

/** What a machine is, of whichever kind. */
interface Machine {
  readonly name: string;
  readonly number: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly account: { readonly email: string; readonly scopes: readonly string[] } | undefined;
  readonly network: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly image: string;
}

export class MetadataServer {
  readonly #world: GoogleWorld;
  readonly #tokens = new Map<string, { readonly token: string; readonly until: number }>();
  readonly #waiting = new Set<() => void>();

  constructor(world: GoogleWorld) {
    this.#world = world;
    const wake = (): void => {
      for (const each of this.#waiting) each();
    };
    world.cloud.changed.add(wake);
    world.metadataChanged.add(wake);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://metadata');
    const headers = { 'metadata-flavor': 'Google', server: 'Metadata Server for VM' };
    try {
      const answer = await this.#answer(request, url);
      const kind = url.searchParams.get('recursive') === 'true' || url.pathname.endsWith('/token') ? 'json' : 'text';
      const type = kind === 'json' ? 'application/json' : 'application/text';
      response.writeHead(200, { ...headers, 'content-type': type, etag: answer.etag });
      response.end(answer.text);
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      response.writeHead(status, { ...headers, 'content-type': 'text/html; charset=UTF-8' });
      response.end(error instanceof Refusal ? error.message : String((error as Error).stack));
    }
    request.resume();
  }

  async #answer(request: IncomingMessage, url: URL): Promise<{ readonly text: string; readonly etag: string }> {
    const instance = this.#world.cloud.at(request.socket.remoteAddress ?? '');
    if (instance === undefined) throw new Refusal(404, 'no machine of this project has that address');
    if (url.pathname === '/') return { text: 'computeMetadata/\n', etag: '0' };
    if (request.headers['metadata-flavor'] !== 'Google')
      throw new Refusal(
        403,
        "Your client does not have permission to get URL: the header 'Metadata-Flavor: Google' is missing.",
      );
    if (request.headers['x-forwarded-for'] !== undefined) throw new Refusal(403, 'X-Forwarded-For is not allowed.');
    if (request.method !== 'GET') throw new Refusal(405, 'Method not allowed');
    const read = (): { text: string; etag: string } => {
      const text = this.read(instance, url);
      return { text, etag: fingerprintOf(text) };
    };
    const first = read();
    if (url.searchParams.get('wait_for_change') !== 'true') return first;
    const known = url.searchParams.get('last_etag') ?? first.etag;
    const seconds = Number(url.searchParams.get('timeout_sec') ?? 600);
    return this.#change(read, known, seconds, request);
  }

  async #change(
    read: () => { text: string; etag: string },
    known: string,
    seconds: number,
    request: IncomingMessage,
  ): Promise<{ text: string; etag: string }> {
    const ends = new AbortController();
    request.socket.once('close', () => ends.abort());
    const deadline = this.#world.now() + 1000 * seconds;
    for (;;) {
      const now = read();
      if (now.etag !== known || ends.signal.aborted || this.#world.now() >= deadline) return now;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        this.#world.cloud.clock.sleep(deadline - this.#world.now(), ends.signal).then(wake, wake);
      });
    }
  }

  /** The text at a path; throws a status for what is not there. */
  read(instance: CloudInstance, url: URL): string {
    const [root, version, ...rest] = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
    if (root !== 'computeMetadata' || version !== 'v1') throw new Refusal(404, 'Not found');
    const machine = this.#machine(instance);
    const project = this.#world.project(instance.account)!;
    if (rest[0] === 'instance' && rest[1] === 'service-accounts' && rest[3] === 'identity')
      return this.#identity(instance, machine, url.searchParams);
    if (rest.join('/') === 'oslogin/users') return this.#osLogin(project);
    const whole = url.searchParams.get('recursive') === 'true';
    return lookUp(this.#tree(instance, machine, project), rest, whole);
  }

  #machine(instance: CloudInstance): Machine {
    const facts = this.#world.facts(instance);
    if (facts !== undefined) {
      const { name, number, metadata, account, subnetwork, type, body } = facts;
      const image = this.#world.disksOf(instance.id)[0]?.image ?? '';
      return {
        name,
        number,
        attributes: metadata,
        account,
        network: subnetwork.network,
        type: type.name,
        tags: body.tags?.items ?? [],
        image,
      };
    }
    const found = this.#world.tpu.sliceOf(instance);
    if (found === undefined) throw new Refusal(404, 'the machine is not known');
    const { slice, index } = found;
    const name = `t1v-n-${slice.number.slice(-8)}-w-${index}`;
    const endpoints = slice.hosts.map((host, number) => `unknown:unknown:${host.now.address ?? number}`).join(',');
    const attributes = new Map([
      ...Object.entries(slice.metadata),
      ['accelerator-type', slice.type.name],
      ['agent-worker-number', String(index)],
      ['instance-id', slice.id],
      ['tpu-env', tpuEnv(slice, index)],
      ['worker-network-endpoints', endpoints],
    ]);
    const type = `ct-${slice.type.generation}`;
    return {
      name,
      number: numberOf(instance.id),
      attributes,
      account: slice.account,
      network: slice.subnetwork.network,
      type,
      tags: slice.body.tags ?? [],
      image: '',
    };
  }

  #tree(instance: CloudInstance, machine: Machine, project: Project): Tree {
    const { zone, now } = instance;
    const { name, number, attributes, account, network, type, tags, image } = machine;
    const host = `${name}.${zone}.c.${project.id}.internal`;
    const spot = instance.market === 'spot';
    return {
      instance: {
        attributes: Object.fromEntries(attributes),
        'cpu-platform': 'Intel Haswell',
        description: '',
        disks: { '0': { 'device-name': 'persistent-disk-0', index: 0, mode: 'READ_WRITE', type: 'PERSISTENT' } },
        hostname: host,
        id: number,
        image,
        'machine-type': `projects/${project.number}/machineTypes/${type}`,
        'maintenance-event':
          now.rebalanceAt === undefined ? 'NONE' : `${spot ? 'TERMINATE' : 'MIGRATE'}_ON_HOST_MAINTENANCE`,
        name,
        'network-interfaces': {
          '0': {
            'access-configs': { '0': { 'external-ip': now.outside ?? '', type: 'ONE_TO_ONE_NAT' } },
            ip: now.address ?? '',
            network: network.replace(/^projects\/[^/]+/, `projects/${project.number}`),
          },
        },
        preempted: now.preemptionAt === undefined && now.cause !== 'preemption' ? 'FALSE' : 'TRUE',
        'remaining-cpu-time': -1,
        scheduling: {
          'automatic-restart': spot ? 'FALSE' : 'TRUE',
          'on-host-maintenance': spot ? 'TERMINATE' : 'MIGRATE',
          preemptible: spot ? 'TRUE' : 'FALSE',
        },
        ...(account && { 'service-accounts': this.#accounts(instance, account) }),
        tags: JSON.stringify(tags),
        zone: `projects/${project.number}/zones/${zone}`,
      },
      oslogin: {},
      project: {
        attributes: Object.fromEntries(project.metadata),
        'numeric-project-id': project.number,
        'project-id': project.id,
      },
      universe: { 'universe-domain': 'googleapis.com' },
    };
  }

  #accounts(instance: CloudInstance, account: NonNullable<Machine['account']>): Tree {
    const each: Tree = {
      aliases: 'default',
      email: account.email,
      scopes: account.scopes.join('\n'),
      token: () => this.#token(instance, account),
    };
    return { default: each, [account.email]: each };
  }

  /** The same token until five minutes before it expires. */
  #token(instance: CloudInstance, { email, scopes }: NonNullable<Machine['account']>): string {
    const { tokens } = this.#world;
    const now = this.#world.now();
    const known = this.#tokens.get(instance.id);
    const renew = Math.min(300, tokens.lifetime / 2);
    const usable = known !== undefined && known.until - now > 1000 * renew ? known : undefined;
    const given = usable ?? { token: tokens.give(email, scopes), until: now + 1000 * tokens.lifetime };
    this.#tokens.set(instance.id, given);
    return JSON.stringify({
      access_token: given.token,
      expires_in: Math.floor((given.until - now) / 1000),
      token_type: 'Bearer',
    });
  }

  #identity(instance: CloudInstance, { account, name, number }: Machine, query: URLSearchParams): string {
    const audience = query.get('audience');
    if (account === undefined) throw new Refusal(404, 'the machine has no service account');
    if (audience === null || audience === '') throw new Refusal(400, 'non-empty audience parameter required');
    const project = this.#world.project(instance.account)!;
    const about = {
      google: {
        compute_engine: {
          project_id: project.id,
          project_number: project.number,
          zone: instance.zone,
          instance_id: number,
          instance_name: name,
          instance_creation_timestamp: Math.floor(instance.launchedAt / 1000),
        },
      },
    };
    const more = query.get('format') === 'full' ? about : {};
    return this.#world.tokens.identity(account.email, numberOf(account.email), audience, more);
  }

  /** People who may log in where OS Login is on, with their keys. */
  #osLogin(project: Project): string {
    const may = (email: string): boolean => project.allows(email, 'compute.instances.osLogin', 0);
    const users = [...this.#world.osLogin.values()].filter(({ email }) => may(email));
    return JSON.stringify({ loginProfiles: users.map(writeProfile) });
  }
}

const tpuEnv = (
  {
    type,
    id,
    zone,
    project,
    body,
  }: {
    type: TpuType;
    id: string;
    zone: string;
    project: Project;
    body: NodeBody;
  },
  index: number,
): string =>
  Object.entries({
    ACCELERATOR_TYPE: type.name,
    CONSUMER_PROJECT_ID: project.id,
    CONSUMER_PROJECT_NUMBER: String(project.number),
    NODE_ID: id,
    RUNTIME_VERSION: body.runtimeVersion ?? '',
    TOPOLOGY: topologyOf(type, body.acceleratorConfig),
    TYPE: type.name.split('-')[0]!.toUpperCase(),
    WORKER_ID: String(index),
    ZONE: zone,
  })
    .map(([name, value]) => `${name}: '${value}'\n`)
    .join('');
