/** What AWS has beside what every cloud has: networks, templates, spot requests, and what EC2 remembers of a launch. */

import { createHash } from 'node:crypto';
import type { LaunchTemplateVersion, RequestLaunchTemplateData, RunInstancesRequest } from '@aws-sdk/client-ec2';
import { ownValue } from '../../src/base/own-value.ts';
import type { Belonging, Group, GroupRule, Image, Profile, Reservation, Role } from '../cloud/belongings.ts';
import { Store } from '../cloud/belongings.ts';
import type { Cloud } from '../cloud/cloud.ts';
import type { CloudInstance } from '../cloud/instance.ts';
import { type AwsType, awsTypes } from './catalog.ts';
import { publicImages } from './images.ts';
import { managedPolicies, type Policy, readPolicy } from './policy.ts';
import { type Principal, Principals, randomId } from './principals.ts';

export interface Vpc extends Belonging {
  readonly cidr: string;
  readonly isDefault: boolean;
}

export interface Subnet extends Belonging {
  readonly vpc: string;
  readonly zone: string;
  readonly cidr: string;
  readonly isDefault: boolean;
  /** Instances get an outside address unless they say otherwise. */
  readonly mapsPublic: boolean;
  /** Whether a route leads to the internet. */
  readonly routed: boolean;
  readonly state: 'available' | 'pending';
  /** How many instances it has room for. */
  readonly room: number;
}

export interface LaunchTemplate extends Belonging {
  readonly name: string;
  readonly versions: (LaunchTemplateVersion & { readonly data: RequestLaunchTemplateData })[];
  defaultVersion: number;
}

export interface SpotRequest extends Belonging {
  /** The one that it has now. */
  instance: string;
  readonly persistent: boolean;
  readonly maxPrice: string;
  state: 'active' | 'closed' | 'cancelled' | 'open';
  code: string;
  readonly zone: string;
  /** Makes the next one, where the request outlives its instance. */
  readonly again: () => CloudInstance | undefined;
}

/** What EC2 remembers of the launch of an instance. */
export interface Facts {
  readonly request: RunInstancesRequest;
  readonly reservation: string;
  readonly index: number;
  readonly image: Image;
  readonly type: AwsType;
  readonly subnet: Subnet;
  groups: readonly string[];
  readonly profile: Profile | undefined;
  readonly spotRequest: string | undefined;
  protected: boolean;
  stopProtected: boolean;
  readonly interface: { readonly id: string; tags: Readonly<Record<string, string>> };
}

/** A launch that had a token. */
export interface TokenUse {
  readonly asked: string;
  readonly made: readonly string[];
}

export interface AwsWorldOptions {
  readonly cloud: Cloud;
  /** Whether types are sold that AWS sells no more. @default false */
  readonly retired?: boolean;
}

export const spotRole = 'AWSServiceRoleForEC2Spot';

export class AwsWorld {
  readonly cloud: Cloud;
  readonly principals = new Principals();
  readonly vpcs = new Store<Vpc>();
  readonly subnets = new Store<Subnet>();
  readonly templates = new Store<LaunchTemplate>();
  readonly spotRequests = new Store<SpotRequest>();
  /** By account, region, zone and token. */
  readonly tokens = new Map<string, TokenUse>();
  /** Parameters of the systems manager, by region and name. */
  readonly parameters = new Map<string, string>();
  sellsRetired: boolean;
  readonly #facts = new Map<string, Facts>();
  readonly #regions = new Set<string>();
  readonly #seed: string;
  #count = 0;

  constructor({ cloud, retired = false }: AwsWorldOptions) {
    this.cloud = cloud;
    this.sellsRetired = retired;
    this.#seed = randomId('', 8);
    for (const region of Object.keys(cloud.catalog.regions)) {
      const { images, parameters } = publicImages(region, (name) => hex(name, 17));
      for (const image of images) cloud.has.images.add(image);
      for (const [name, id] of parameters) this.parameters.set(`${region}${name}`, id);
    }
    cloud.ended.add((instance) => this.#ended(instance));
  }

  now(): number {
    return this.cloud.clock.now();
  }

  /** An id that nothing else has, the way EC2 makes them. */
  newId(prefix: string): string {
    return `${prefix}-${hex(`${this.#seed}${++this.#count}`, 17)}`;
  }

  zonesOf(region: string): readonly string[] {
    return ownValue(this.cloud.catalog.regions, region) ?? [];
  }

  /** Types on sale, by name. */
  type(name: string): AwsType | undefined {
    const type = awsTypes().get(name);
    return type !== undefined && (this.sellsRetired || !type.retired) ? type : undefined;
  }

  types(): readonly AwsType[] {
    return [...awsTypes().values()].filter((type) => this.sellsRetired || !type.retired);
  }

  /** What every account finds in a region: a network with a subnet in each zone and a group. */
  network(account: string, region: string): void {
    const key = `${account} ${region}`;
    if (this.#regions.has(key)) return;
    this.#regions.add(key);
    const base = { account, region, createdAt: this.now(), tags: {} };
    const vpc = this.vpcs.add({ ...base, id: `vpc-${hex(key, 17)}`, cidr: '172.31.0.0/16', isDefault: true });
    for (const [index, zone] of this.zonesOf(region).entries())
      this.subnets.add({
        ...base,
        id: `subnet-${hex(`${account} ${zone}`, 17)}`,
        vpc: vpc.id,
        zone,
        cidr: `172.31.${16 * index}.0/20`,
        isDefault: true,
        mapsPublic: true,
        routed: true,
        state: 'available',
        room: 4091,
      });
    this.addGroup({ ...base, name: 'default', description: 'default VPC security group', network: vpc.id });
  }

  /** Takes away what every account finds in a region, as careful companies do. */
  removeNetwork(account: string, region: string): void {
    this.network(account, region);
    for (const store of [this.vpcs, this.subnets, this.cloud.has.groups])
      for (const { id } of store.of(account, region)) store.delete(id);
  }

  addVpc(account: string, region: string, cidr = '10.20.0.0/16'): Vpc {
    this.network(account, region);
    const base = { account, region, createdAt: this.now(), tags: {} };
    const vpc = this.vpcs.add({ ...base, id: this.newId('vpc'), cidr, isDefault: false });
    this.addGroup({ ...base, name: 'default', description: 'default VPC security group', network: vpc.id });
    return vpc;
  }

  addSubnet(vpc: Vpc, has: Partial<Subnet> & Pick<Subnet, 'zone'>): Subnet {
    const number = this.subnets.of(vpc.account, vpc.region).length;
    return this.subnets.add({
      id: this.newId('subnet'),
      account: vpc.account,
      region: vpc.region!,
      createdAt: this.now(),
      tags: {},
      vpc: vpc.id,
      cidr: vpc.cidr.replace(/\.0\.0\/16$/, `.${number}.0/24`),
      isDefault: false,
      mapsPublic: true,
      routed: true,
      state: 'available',
      room: 251,
      ...has,
    });
  }

  addGroup(has: Omit<Group, 'id' | 'rules'> & { readonly rules?: readonly GroupRule[] }): Group {
    const everywhere: GroupRule = { id: this.newId('sgr'), outwards: true, protocol: '-1', cidr: '0.0.0.0/0' };
    return this.cloud.has.groups.add({ rules: [everywhere], ...has, id: this.newId('sg') });
  }

  addImage(has: Partial<Image> & Pick<Image, 'account' | 'region'>): Image {
    return this.cloud.has.images.add({
      id: this.newId('ami'),
      name: 'own image',
      description: '',
      architecture: 'x86_64',
      rootDevice: '/dev/sda1',
      rootGib: 8,
      owner: has.account,
      user: 'ubuntu',
      createdAt: this.now(),
      tags: {},
      ...has,
    });
  }

  addReservation(has: Partial<Reservation> & Pick<Reservation, 'account' | 'type' | 'zone' | 'total'>): Reservation {
    const region = has.zone.slice(0, -1);
    return this.cloud.has.reservations.add({
      id: this.newId('cr'),
      region,
      createdAt: this.now(),
      tags: {},
      block: false,
      targeted: true,
      ...has,
    });
  }

  /** Images that an account can use in a region: those of everybody, and its own. */
  images(account: string, region: string): readonly Image[] {
    return this.cloud.has.images
      .all()
      .filter((image) => image.region === region && (image.account === account || isPublisher(image.account)));
  }

  role(account: string, name: string): Role | undefined {
    return this.cloud.has.roles.of(account).find((role) => role.name === name);
  }

  profile(account: string, name: string): Profile | undefined {
    return this.cloud.has.profiles.of(account).find((profile) => profile.name === name);
  }

  policiesOf(role: Role): readonly Policy[] {
    const attached = role.attached.flatMap((arn) => managedPolicies.get(arn.slice(arn.lastIndexOf('/') + 1)) ?? []);
    return [...attached, ...[...role.own.values()].map(readPolicy)];
  }

  /** Credentials of a role that a machine or somebody has taken on. */
  session(role: Role, name: string, seconds: number): Principal {
    return this.principals.addSession(role, name, seconds, () => {
      const now = this.cloud.has.roles.get(role.account, role.id);
      return now === undefined ? [] : this.policiesOf(now);
    });
  }

  remember(instance: string, facts: Facts): void {
    this.#facts.set(instance, facts);
  }

  /** Of one that nobody launched through EC2 too. */
  facts(instance: CloudInstance): Facts {
    const known = this.#facts.get(instance.id);
    if (known !== undefined) return known;
    const { account, zone } = instance;
    const region = zone.slice(0, -1);
    this.network(account, region);
    const subnet = this.subnets.of(account, region).find((each) => each.zone === zone)!;
    const image = this.images(account, region)[0]!;
    const facts: Facts = {
      request: { MinCount: 1, MaxCount: 1, ImageId: image.id },
      reservation: this.newId('r'),
      index: 0,
      image,
      type: awsTypes().get(instance.order.machine_type)!,
      subnet,
      groups: [],
      profile: undefined,
      spotRequest: undefined,
      protected: false,
      stopProtected: false,
      interface: { id: this.newId('eni'), tags: {} },
    };
    this.#facts.set(instance.id, facts);
    return facts;
  }

  /** A persistent request asks again when its instance is gone. */
  #ended({ id, account }: CloudInstance): void {
    for (const request of this.spotRequests.of(account).filter(({ instance }) => instance === id)) {
      if (request.state !== 'active') continue;
      const next = request.persistent ? request.again() : undefined;
      if (next !== undefined) request.instance = next.id;
      else if (request.persistent) [request.state, request.code] = ['open', 'capacity-not-available'];
      else [request.state, request.code] = ['closed', 'instance-terminated-by-user'];
    }
  }
}

/** Hexadecimal digits that a name always gives. */
export const hex = (name: string, length: number): string =>
  createHash('sha256').update(name).digest('hex').slice(0, length);

const isPublisher = (account: string): boolean => /^(?:898082745236|099720109477|137112412989)$/.test(account);
