import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CloudInstance } from '../cloud/instance.ts';
import { macOf, profileArn } from './ec2/write-instance.ts';
import type { Principal } from './principals.ts';
import type { AwsWorld, Facts } from './world.ts';

const tokenHeader = 'x-aws-ec2-metadata-token';
const ttlHeader = 'x-aws-ec2-metadata-token-ttl-seconds';
/** New credentials are there so long before the old ones expire. */
const renewBefore = 5 * 60_000;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

interface Session {
  readonly instance: string;
  readonly until: number;
}

/** What instances learn about themselves, version 2: with a token that they fetch first. Who asks is told by the address. */
export class InstanceMetadata {
  readonly #world: AwsWorld;
  /** How long credentials of a role live. */
  readonly #seconds: () => number;
  readonly #tokens = new Map<string, Session>();
  readonly #credentials = new Map<string, Principal>();

  constructor(world: AwsWorld, seconds: () => number) {
    this.#world = world;
    this.#seconds = seconds;
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const instance = this.#world.cloud.at(request.socket.remoteAddress ?? '');
    try {
      if (instance === undefined) throw new Refusal(404);
      const text = this.answer(request.method ?? 'GET', request.url ?? '/', request.headers, instance);
      response.writeHead(200, {
        'content-type': 'text/plain',
        server: 'EC2ws',
        ...(request.method === 'PUT' && { [ttlHeader]: String(request.headers[ttlHeader]) }),
      });
      response.end(text);
    } catch (error) {
      response.writeHead(error instanceof Refusal ? error.status : 500, {
        'content-type': 'text/plain',
        server: 'EC2ws',
      });
      response.end(error instanceof Refusal ? '' : String(error));
    }
    request.resume();
  }

  /** The text for a path; throws a status for what is not there. */
  answer(
    method: string,
    url: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    instance: CloudInstance,
  ): string {
    const facts = this.#world.facts(instance);
    const options = facts.request.MetadataOptions;
    if (options?.HttpEndpoint === 'disabled') throw new Refusal(403);
    const path = new URL(url, 'http://metadata').pathname.replace(/^\/+/, '').split('/');
    if (method === 'PUT' && path.join('/') === 'latest/api/token') return this.#token(headers, instance.id);
    if (method !== 'GET') throw new Refusal(405);
    const token = headers[tokenHeader];
    if (token === undefined ? options?.HttpTokens !== 'optional' : !this.#holds(String(token), instance.id))
      throw new Refusal(401);
    const [version, ...rest] = path;
    if (version !== 'latest' && !/^\d{4}-\d\d-\d\d$/.test(version ?? '')) throw new Refusal(404);
    return lookUp(this.#tree(instance, facts), rest);
  }

  #token(headers: Readonly<Record<string, unknown>>, instance: string): string {
    const ttl = Number(headers[ttlHeader]);
    if (!Number.isInteger(ttl) || ttl < 1 || ttl > 21_600) throw new Refusal(400);
    if (headers['x-forwarded-for'] !== undefined) throw new Refusal(403);
    const token = randomBytes(30).toString('base64url');
    this.#tokens.set(token, { instance, until: Date.now() + 1000 * ttl });
    return token;
  }

  #holds(token: string, instance: string): boolean {
    const session = this.#tokens.get(token);
    return session !== undefined && session.instance === instance && session.until > Date.now();
  }

  #tree(instance: CloudInstance, facts: Facts): Tree {
    const { account, zone, now } = instance;
    const { request, image, type, subnet } = facts;
    const region = zone.slice(0, -1);
    const key = this.#world.cloud.has.keys.of(account, region).find(({ name }) => name === request.KeyName);
    const identity = {
      accountId: account,
      architecture: image.architecture,
      availabilityZone: zone,
      imageId: image.id,
      instanceId: instance.id,
      instanceType: type.name,
      pendingTime: new Date(instance.launchedAt).toISOString(),
      privateIp: now.address,
      region,
      version: '2017-09-30',
    };
    const userData = request.UserData;
    const groups = facts.groups.map((id) => this.#world.cloud.has.groups.get(account, id)?.name ?? id);
    return {
      ...(userData && { 'user-data': Buffer.from(userData, 'base64').toString() }),
      dynamic: { 'instance-identity': { document: JSON.stringify(identity, undefined, 2) } },
      'meta-data': {
        'ami-id': image.id,
        'ami-launch-index': String(facts.index),
        hostname: `ip-${now.address?.replaceAll('.', '-')}.${region}.compute.internal`,
        'instance-action': 'none',
        'instance-id': instance.id,
        'instance-life-cycle': instance.market === 'spot' ? 'spot' : 'on-demand',
        'instance-type': type.name,
        'local-hostname': `ip-${now.address?.replaceAll('.', '-')}.${region}.compute.internal`,
        'local-ipv4': now.address ?? '',
        mac: macOf(instance.id),
        network: {
          interfaces: {
            macs: {
              [macOf(instance.id)]: {
                'interface-id': facts.interface.id,
                'local-ipv4s': now.address ?? '',
                'owner-id': account,
                'security-group-ids': facts.groups.join('\n'),
                'subnet-id': subnet.id,
                'vpc-id': subnet.vpc,
              },
            },
          },
        },
        placement: { 'availability-zone': zone, region },
        ...(now.outside !== undefined && { 'public-ipv4': now.outside }),
        ...(key && { 'public-keys': { '0': { 'openssh-key': key.publicKey } } }),
        'reservation-id': facts.reservation,
        'security-groups': groups.join('\n'),
        services: { domain: 'amazonaws.com', partition: 'aws' },
        ...this.#role(instance, facts),
        ...notices(instance),
        ...(request.MetadataOptions?.InstanceMetadataTags === 'enabled' && { tags: { instance: { ...now.tags } } }),
      },
    };
  }

  #role(instance: CloudInstance, { profile }: Facts): Tree {
    const role = profile?.role === undefined ? undefined : this.#world.role(instance.account, profile.role);
    if (profile === undefined || role === undefined) return {};
    const credentials = (): string => {
      const { credentials: now } = this.#principal(instance, () =>
        this.#world.session(role, instance.id, this.#seconds()),
      );
      return JSON.stringify(
        {
          Code: 'Success',
          LastUpdated: new Date().toISOString(),
          Type: 'AWS-HMAC',
          AccessKeyId: now.accessKeyId,
          SecretAccessKey: now.secretAccessKey,
          Token: now.sessionToken,
          Expiration: now.expiration?.toISOString(),
        },
        undefined,
        2,
      );
    };
    const info = { Code: 'Success', LastUpdated: new Date().toISOString() };
    return {
      iam: {
        info: JSON.stringify({ ...info, InstanceProfileArn: profileArn(profile), InstanceProfileId: profile.id }),
        'security-credentials': { [role.name]: credentials },
      },
    };
  }

  #principal({ id }: CloudInstance, make: () => Principal): Principal {
    const known = this.#credentials.get(id);
    const left = (known?.credentials.expiration?.getTime() ?? 0) - Date.now();
    if (known !== undefined && left > Math.min(renewBefore, 500 * this.#seconds())) return known;
    const made = make();
    this.#credentials.set(id, made);
    return made;
  }
}

/** What the cloud is about to do to the instance; nothing until it is. */
function notices({ now, market }: CloudInstance): Tree {
  const { preemptionAt, rebalanceAt } = now;
  const time = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    ...(preemptionAt !== undefined &&
      market === 'spot' && {
        spot: {
          'instance-action': JSON.stringify({ action: 'terminate', time: time(preemptionAt) }),
          'termination-time': time(preemptionAt),
        },
      }),
    ...(rebalanceAt !== undefined && {
      events: { recommendations: { rebalance: JSON.stringify({ noticeTime: time(rebalanceAt) }) } },
    }),
  };
}

interface Tree {
  readonly [name: string]: string | (() => string) | Tree;
}

/** What stands at a path; of a folder, what is in it. */
function lookUp(tree: Tree, path: readonly string[]): string {
  let at: Tree[string] = tree;
  for (const name of path) {
    if (name === '') continue;
    if (typeof at !== 'object' || !Object.hasOwn(at, decodeURIComponent(name))) throw new Refusal(404);
    at = at[decodeURIComponent(name)]!;
  }
  if (typeof at === 'string') return at;
  if (typeof at === 'function') return at();
  return Object.entries(at)
    .map(([name, below]) => (typeof below === 'object' ? `${name}/` : name))
    .join('\n');
}
