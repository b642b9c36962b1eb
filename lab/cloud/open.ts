/** A small cloud on the switch of a lab, whose instances are hosts that really boot. What it does is in behaviour.md. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { HostOptions, Lab, LabHost } from '../lab.ts';
import { Accounts } from './accounts.ts';
import { CloudAdmin } from './admin.ts';
import { AdminServer } from './admin-server.ts';
import { ApiServer } from './api-server.ts';
import { CallDesk } from './call-desk.ts';
import { CallLog } from './call-log.ts';
import { Cloud, type CloudOptions } from './cloud.ts';
import { labHypervisor } from './lab-hypervisor.ts';
import { listenOnSwitch } from './listen.ts';
import { metadataAddress, serveMetadata } from './metadata-server.ts';

export interface LabCloud {
  /** Of the API, as hosts of the lab and its laptop reach it. */
  readonly endpoint: string;
  /** The same for processes of this machine. */
  readonly localEndpoint: string;
  /** Of the account `lab`. */
  readonly token: string;
  readonly adminToken: string;
  /** Knobs, the truth and the log of calls, over the endpoint for this machine. */
  readonly admin: CloudAdmin;
  /** The host that an instance is, while there is one. */
  host(instance: string): LabHost | undefined;
  /** Ends every instance. The lab stays. */
  close(): Promise<void>;
}

export interface LabCloudOptions extends Omit<CloudOptions, 'hypervisor'> {
  /** What every instance has. */
  readonly image?: HostOptions;
}

const apiPort = 8700;

export async function openLabCloud(lab: Lab, { image = {}, ...options }: LabCloudOptions = {}): Promise<LabCloud> {
  const hypervisor = labHypervisor(lab, image);
  const cloud = new Cloud({ ...options, hypervisor });
  const served = await serveCloud(cloud);
  const metadata = createServer((request, response) => void serveMetadata(cloud, request, response));
  const leave = await joinSwitch(lab, served.server, metadata);
  return {
    endpoint: endpointOf(lab),
    localEndpoint: served.endpoint,
    token: served.token,
    adminToken: served.adminToken,
    admin: served.admin,
    host: (id) => {
      const address = cloud.instance(id)?.machine?.address;
      return address === undefined ? undefined : hypervisor.host(address);
    },
    close: async () => {
      leave();
      await served.close();
    },
  };
}

/** Lets hosts of a lab and its laptop reach a cloud, and instances their metadata. What it returns ends that. */
export async function joinSwitch(lab: Lab, server: Server, metadata: Server): Promise<() => void> {
  const onSwitch = await listenOnSwitch(lab.keeper, [
    { address: lab.gateway, port: apiPort },
    { address: metadataAddress, port: 80, add: true },
  ]);
  const [api, inside] = onSwitch as readonly [NetServer, NetServer];
  // A server that listens nowhere does not know its connections, and an instance that is gone does not close them.
  const open = new Set<Socket>();
  const handTo = (target: Server) => (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    target.emit('connection', socket);
  };
  api.on('connection', handTo(server));
  inside.on('connection', handTo(metadata));
  return () => {
    for (const each of onSwitch) each.close();
    for (const socket of open) socket.destroy();
  };
}

/** Where hosts of a lab and its laptop find the cloud on its switch. */
export const endpointOf = (lab: Lab): string => `http://${lab.gateway}:${apiPort}`;

export interface ServedCloud {
  readonly server: Server;
  readonly endpoint: string;
  readonly token: string;
  readonly adminToken: string;
  readonly admin: CloudAdmin;
  close(): Promise<void>;
}

/** What answers calls that are not for the admin. */
export interface Dialect {
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** API and admin endpoint of a cloud, on loopback, in its own dialect. */
export async function serveCloud(cloud: Cloud): Promise<ServedCloud> {
  const accounts = new Accounts();
  const token = accounts.open('lab');
  return { token, ...(await serveDialect(cloud, accounts, (desk) => new ApiServer(cloud, accounts, desk))) };
}

/** The same in any dialect. */
export async function serveDialect(
  cloud: Cloud,
  accounts: Accounts,
  dialect: (desk: CallDesk) => Dialect,
): Promise<Omit<ServedCloud, 'token'>> {
  const log = new CallLog();
  const adminToken = randomBytes(18).toString('base64url');
  const api = dialect(new CallDesk(cloud, accounts, log));
  const admin = new AdminServer(cloud, accounts, log, adminToken);
  const listener: RequestListener = (request, response) => {
    void (request.url?.startsWith('/admin/') ? admin : api).serve(request, response);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    server,
    endpoint,
    adminToken,
    admin: new CloudAdmin(endpoint, adminToken),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await cloud.close();
    },
  };
}
