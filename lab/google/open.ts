/** Google Cloud in miniature: a dialect of the lab cloud, whose machines are hosts of a lab or stand-ins. See behaviour.md. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readScript, readShell, shellProgram } from '../../src/base/shell/shell-file.ts';
import { Accounts } from '../cloud/accounts.ts';
import type { CloudAdmin } from '../cloud/admin.ts';
import { Cloud, type CloudOptions } from '../cloud/cloud.ts';
import type { Hypervisor, MachineOrder } from '../cloud/hypervisor.ts';
import { labHypervisor } from '../cloud/lab-hypervisor.ts';
import { endpointOf, joinSwitch, type ServedCloud, serveDialect } from '../cloud/open.ts';
import { OutsideAddresses } from '../cloud/outside.ts';
import { StandInHypervisor } from '../cloud/stand-in-hypervisor.ts';
import type { HostOptions, Lab, LabHost } from '../lab.ts';
import type { ServiceAccountKey, UserCredentials } from './access/tokens.ts';
import type { WorkloadCredentials } from './access/workloads.ts';
import { googleCatalog } from './catalog.ts';
import { certificates } from './certificates.ts';
import { MetadataServer } from './metadata-server.ts';
import type { Project } from './project.ts';
import { proxyGoogle } from './proxy.ts';
import { GoogleServer } from './server.ts';
import { GoogleWorld } from './world.ts';

const googleFirstBoot = readShell(new URL('./google-first-boot.sh', import.meta.url));
const guest = readScript(new URL('./guest.sh', import.meta.url));

/** Of lists, where nobody sets another. */
const pageSize = 500;

/** The project that is there from the start. */
export const labProject = 'lab-project';

export interface GoogleOptions extends Omit<CloudOptions, 'hypervisor' | 'catalog' | 'stoppedHold'> {
  /** Whether accelerators are sold that Google sells no more (K80). @default false */
  readonly retired?: boolean;
  /** How long access tokens live. @default 1 hour */
  readonly tokenSeconds?: number;
}

/** Files of credentials that clients take. */
export type Credentials = ServiceAccountKey | UserCredentials | WorkloadCredentials;

/** Google Cloud on loopback. */
export interface Google {
  /** For processes of this machine: the APIs over plain HTTP, and a proxy by which Google's names lead to them. */
  readonly localEndpoint: string;
  readonly adminToken: string;
  /** Settings, faults, the truth and the log of calls. */
  readonly admin: CloudAdmin;
  readonly cloud: Cloud;
  /** What the APIs have no calls for: projects, networks, images, policies, quotas, reservations. */
  readonly world: GoogleWorld;
  readonly project: Project;
  /** Key of a service account that owns the project. */
  readonly credentials: ServiceAccountKey;
  /** An access token of the same account. */
  readonly token: () => string;
  /** Key of a new service account with these roles, in the project. */
  readonly addAccount: (name: string, ...roles: readonly string[]) => ServiceAccountKey;
  /** Credentials of a person with these roles, as `gcloud auth application-default login` keeps them. */
  readonly addUser: (email: string, ...roles: readonly string[]) => UserCredentials;
  /** Credentials of a program elsewhere that takes on a new service account with these roles, for processes of this machine. */
  readonly addWorkload: (name: string, ...roles: readonly string[]) => WorkloadCredentials;
  /** File of the certificate by which the proxy's are trusted. */
  readonly authority: () => string;
  /** What a program needs to call Google here, with any client that takes a proxy from its environment. */
  readonly environment: (credentials?: Credentials) => Readonly<Record<string, string>>;
  /** The id that the world has for an instance, or for a host of a slice (`NODE/0`). */
  readonly idOf: (name: string) => string;
  readonly metadata: MetadataServer;
  close(): Promise<void>;
}

export interface LabGoogle extends Google {
  /** For hosts of the lab and its laptop. */
  readonly endpoint: string;
  /**
   * Gives the root of a host, such as the laptop, a key and whom to trust. What its programs need is in the environment of
   * its login shells from then on, and in the answer.
   */
  equip(host: LabHost, credentials?: ServiceAccountKey | UserCredentials): Promise<Readonly<Record<string, string>>>;
  /** The host that a machine is, while there is one: by its name, or as `NODE/0`. */
  host(name: string): LabHost | undefined;
}

export interface LabGoogleOptions extends GoogleOptions {
  /** What every machine has. */
  readonly image?: HostOptions;
  /** Which machines are stand-ins, without a host. @default none */
  readonly standIn?: (order: MachineOrder) => boolean;
}

/** Google whose machines are stand-ins, without a lab: for what is about calls alone, and for thousands of machines. */
export async function openStandInGoogle(
  options: GoogleOptions = {},
): Promise<Google & { readonly hypervisor: StandInHypervisor }> {
  const hypervisor = new StandInHypervisor();
  const { google } = await open(hypervisor, options);
  return { ...google, hypervisor };
}

/**
 * Google on the switch of a lab, whose machines are hosts that boot. The laptop reaches them by their outside addresses
 * alone; they reach one another by their inside ones.
 */
export async function openLabGoogle(
  lab: Lab,
  { image = {}, standIn, ...options }: LabGoogleOptions = {},
): Promise<LabGoogle> {
  const endpoint = endpointOf(lab);
  const outside = await OutsideAddresses.open(lab);
  const boots = { first: firstBoot(endpoint, image.first), each: everyBoot(image.each) };
  const hosts = labHypervisor(lab, { ...image, ...boots }, outside);
  const standIns = new StandInHypervisor();
  const hypervisor: Hypervisor = { make: (order) => (standIn?.(order) ? standIns : hosts).make(order) };
  const { google, served } = await open(hypervisor, options);
  const leave = await joinSwitch(
    lab,
    served.server,
    createServer((request, response) => void google.metadata.serve(request, response)),
  );
  return {
    ...google,
    endpoint,
    equip: (host, credentials = google.credentials) => equip(host, endpoint, credentials),
    host: (name) => hosts.host(google.cloud.instance(google.idOf(name))?.machine?.address ?? ''),
    close: async () => {
      leave();
      await google.close();
    },
  };
}

async function open(
  hypervisor: Hypervisor,
  { retired, tokenSeconds, ...options }: GoogleOptions,
): Promise<{ readonly google: Google; readonly served: Omit<ServedCloud, 'token'> }> {
  const settings = { page_size: pageSize, ...options.settings };
  const cloud = new Cloud({ ...options, settings, hypervisor, catalog: googleCatalog(), stoppedHold: false });
  const world = new GoogleWorld({ cloud, ...(retired !== undefined && { retired }) });
  if (tokenSeconds !== undefined) world.tokens.lifetime = tokenSeconds;
  const project = world.addProject(labProject);
  const addAccount = (name: string, ...roles: readonly string[]): ServiceAccountKey => {
    const { email, number } = world.addAccount(project, `${name}@${project.id}.iam.gserviceaccount.com`, name, roles);
    return world.tokens.addKey(project.id, email, number);
  };
  const credentials = addAccount('lab-owner', 'roles/owner');
  const served = await serveDialect(cloud, new Accounts(), (desk) => new GoogleServer(world, desk));
  const endProxy = proxyGoogle(served.server);
  const files = mkdtempSync(join(tmpdir(), 'lab-google-'));
  const google: Google = {
    ...{ cloud, world, project, credentials, addAccount },
    localEndpoint: served.endpoint,
    adminToken: served.adminToken,
    admin: served.admin,
    metadata: new MetadataServer(world),
    token: () => world.tokens.give(credentials.client_email),
    addUser: (email, ...roles) => {
      project.grant(`user:${email}`, ...roles);
      return world.tokens.addUser(email);
    },
    addWorkload: (name, ...roles) => {
      const { client_email: email } = addAccount(name, ...roles);
      const file = join(files, `${name}.token`);
      const { token, credentials: made } = world.workloads.add(project, email, file);
      writeFileSync(file, token, { mode: 0o600 });
      return made;
    },
    authority: () => certificates().authority,
    environment: (given = credentials) => environmentOf(files, served.endpoint, given),
    idOf: (name) => {
      const found = cloud.truth().findLast((each) => each.name === name);
      if (found === undefined) throw new Error(`there is no machine '${name}'`);
      return found.id;
    },
    close: async () => {
      endProxy();
      await served.close();
      rmSync(files, { recursive: true, force: true });
    },
  };
  return { google, served };
}

function environmentOf(folder: string, proxy: string, credentials: Credentials): Readonly<Record<string, string>> {
  const name = 'client_email' in credentials ? credentials.private_key_id : credentials.type;
  const file = join(folder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(credentials, undefined, 2)}\n`, { mode: 0o600 });
  return {
    HTTPS_PROXY: proxy,
    GOOGLE_APPLICATION_CREDENTIALS: file,
    GOOGLE_CLOUD_PROJECT: labProject,
    ...trust(certificates().authority),
  };
}

async function equip(
  host: LabHost,
  endpoint: string,
  credentials: ServiceAccountKey | UserCredentials,
): Promise<Readonly<Record<string, string>>> {
  const folder = '/root/.config/gcloud';
  const write = (file: string, input: string): Promise<string> =>
    host.must(['sh', '-c', 'umask 077; mkdir -p "$0"; cat > "$1"', folder, file], { user: 'root', input });
  const authority = `${folder}/authority.pem`;
  const key = `${folder}/application_default_credentials.json`;
  await write(authority, readFileSync(certificates().authority, 'utf8'));
  await write(key, `${JSON.stringify(credentials, undefined, 2)}\n`);
  const variables = {
    HTTPS_PROXY: endpoint,
    GOOGLE_APPLICATION_CREDENTIALS: key,
    GOOGLE_CLOUD_PROJECT: labProject,
    ...trust(authority),
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${value}\n`);
  await write('/etc/profile.d/lab-google.sh', lines.join(''));
  return variables;
}

/** How each kind of client is told whom to trust. */
const trust = (authority: string): Readonly<Record<string, string>> => ({
  NODE_EXTRA_CA_CERTS: authority,
  SSL_CERT_FILE: authority,
  REQUESTS_CA_BUNDLE: authority,
  CURL_CA_BUNDLE: authority,
  HTTPLIB2_CA_CERTS: authority,
});

/** At Google names lead to its endpoints; in a lab there are no names, so machines have a proxy in every environment. */
function firstBoot(endpoint: string, first: string | undefined): string {
  const authority = '/etc/ssl/lab-authority.pem';
  const variables = Object.entries({ HTTPS_PROXY: endpoint, ...trust(authority) });
  return shellProgram(googleFirstBoot, {
    guest,
    authority,
    certificate: readFileSync(certificates().authority, 'utf8'),
    variables: variables.map(([name, value]) => `${name}=${value}`).join('\n'),
    image_program: first,
  });
}

const everyBoot = (each: string | undefined): string =>
  [
    ...(each === undefined ? [] : [each]),
    '/bin/sh /usr/lib/google/guest.sh accounts >> /var/log/console.log 2>&1 8>&-',
    '/bin/sh /usr/lib/google/guest.sh agent >> /var/log/console.log 2>&1 8>&- &',
  ].join('\n');
