/** AWS in miniature: a dialect of the lab cloud, whose instances are hosts of a lab or stand-ins. See behaviour.md. */
import { createServer } from 'node:http';
import { Accounts } from '../cloud/accounts.ts';
import type { CloudAdmin } from '../cloud/admin.ts';
import { Cloud, type CloudOptions } from '../cloud/cloud.ts';
import type { Hypervisor, MachineOrder } from '../cloud/hypervisor.ts';
import { labHypervisor } from '../cloud/lab-hypervisor.ts';
import { endpointOf, joinSwitch, type ServedCloud, serveDialect } from '../cloud/open.ts';
import { OutsideAddresses } from '../cloud/outside.ts';
import { StandInHypervisor } from '../cloud/stand-in-hypervisor.ts';
import type { HostOptions, Lab, LabHost } from '../lab.ts';
import { awsCatalog } from './catalog.ts';
import { InstanceMetadata } from './imds.ts';
import { managedPolicies, type Policy } from './policy.ts';
import type { Credentials } from './principals.ts';
import { AwsServer } from './server.ts';
import { AwsWorld } from './world.ts';

/** The account that is there from the start. */
export const labAccount = '123456789012';

export interface AwsOptions extends Omit<CloudOptions, 'hypervisor' | 'catalog' | 'stoppedHold'> {
  /** Whether types are sold that AWS sells no more (p2, p3, g3). @default false */
  readonly retired?: boolean;
  /** How long credentials of a role live that an instance gets. @default 6 hours */
  readonly roleSeconds?: number;
}

/** AWS on loopback. */
export interface Aws {
  /** For processes of this machine. */
  readonly localEndpoint: string;
  readonly adminToken: string;
  /** Settings, faults, the truth and the log of calls. */
  readonly admin: CloudAdmin;
  readonly cloud: Cloud;
  /** What the API has no calls for: networks, images, reservations, retired types. */
  readonly world: AwsWorld;
  /** Of a user of the account who may do everything. */
  readonly credentials: Credentials;
  /** A user who may do what the policy says, and nothing else. @default everything, in the account `labAccount` */
  readonly addUser: (name: string, policy?: Policy, account?: string) => Credentials;
  /** What a program needs to call it, with the SDK or boto3. */
  readonly environment: (credentials?: Credentials) => Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface LabAws extends Aws {
  /** For hosts of the lab and its laptop. */
  readonly endpoint: string;
  /** The host that an instance is, while there is one. */
  host(instance: string): LabHost | undefined;
}

export interface LabAwsOptions extends AwsOptions {
  /** What every instance has. */
  readonly image?: HostOptions;
  /** Which instances are stand-ins, without a host. @default none */
  readonly standIn?: (order: MachineOrder) => boolean;
}

/** AWS whose instances are stand-ins, without a lab: for what is about calls alone, and for thousands of instances. */
export async function openStandInAws(
  options: AwsOptions = {},
): Promise<Aws & { readonly hypervisor: StandInHypervisor }> {
  const hypervisor = new StandInHypervisor();
  const { aws } = await open(hypervisor, options);
  return { ...aws, hypervisor };
}

/**
 * AWS on the switch of a lab, whose instances are hosts that boot. The laptop reaches them by their public addresses alone;
 * they reach one another by their private ones.
 */
export async function openLabAws(lab: Lab, { image = {}, standIn, ...options }: LabAwsOptions = {}): Promise<LabAws> {
  const endpoint = endpointOf(lab);
  const outside = await OutsideAddresses.open(lab);
  const hosts = labHypervisor(lab, { ...image, first: withEndpoint(endpoint, image.first) }, outside);
  const standIns = new StandInHypervisor();
  const hypervisor: Hypervisor = { make: (order) => (standIn?.(order) ? standIns : hosts).make(order) };
  const { aws, served, metadata } = await open(hypervisor, options);
  const leave = await joinSwitch(
    lab,
    served.server,
    createServer((request, response) => metadata.serve(request, response)),
  );
  return {
    ...aws,
    endpoint,
    environment: (credentials) => ({ ...aws.environment(credentials), AWS_ENDPOINT_URL: endpoint }),
    host: (id) => hosts.host(aws.cloud.instance(id)?.machine?.address ?? ''),
    close: async () => {
      leave();
      await aws.close();
    },
  };
}

interface Opened {
  readonly aws: Aws;
  readonly served: Omit<ServedCloud, 'token'>;
  readonly metadata: InstanceMetadata;
}

async function open(
  hypervisor: Hypervisor,
  { retired, roleSeconds = 6 * 3600, ...options }: AwsOptions,
): Promise<Opened> {
  const cloud = new Cloud({ ...options, hypervisor, catalog: awsCatalog(), stoppedHold: false });
  const world = new AwsWorld({ cloud, ...(retired !== undefined && { retired }) });
  const everything = managedPolicies.get('AdministratorAccess')!;
  const addUser = (name: string, policy: Policy = everything, account = labAccount): Credentials =>
    world.principals.addUser(account, name, [policy]).credentials;
  const credentials = addUser('admin');
  const served = await serveDialect(cloud, new Accounts(), (desk) => new AwsServer(world, desk));
  const aws: Aws = {
    localEndpoint: served.endpoint,
    adminToken: served.adminToken,
    admin: served.admin,
    cloud,
    world,
    credentials,
    addUser,
    environment: (given = credentials) => ({
      AWS_ENDPOINT_URL: served.endpoint,
      AWS_ACCESS_KEY_ID: given.accessKeyId,
      AWS_SECRET_ACCESS_KEY: given.secretAccessKey,
      ...(given.sessionToken !== undefined && { AWS_SESSION_TOKEN: given.sessionToken }),
      AWS_EC2_METADATA_DISABLED: 'true',
    }),
    close: () => served.close(),
  };
  return { aws, served, metadata: new InstanceMetadata(world, () => roleSeconds) };
}

/** On AWS names lead to its endpoints; in a lab there are no names, so instances have it in every environment. */
const withEndpoint = (endpoint: string, first: string | undefined): string =>
  [
    `echo 'AWS_ENDPOINT_URL=${endpoint}' >> /etc/environment`,
    `echo 'export AWS_ENDPOINT_URL=${endpoint}' > /etc/profile.d/lab-aws.sh`,
    `echo 'SetEnv AWS_ENDPOINT_URL=${endpoint}' >> /etc/ssh/sshd_config`,
    ...(first === undefined ? [] : [first]),
  ].join('\n');
