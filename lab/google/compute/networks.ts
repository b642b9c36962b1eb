import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import { fingerprintOf, linkOf, time } from '../names.ts';
import { aggregatedOf, listOf } from '../paging.ts';
import type { Firewall, Network, Subnetwork } from '../project.ts';
import type { FirewallBody } from '../shapes.ts';

const most = 500;

const notFound = (path: string) => googleError('notFound', `The resource '${path}' was not found`);

function writeNetwork({ project }: Caller, { name, id, createdAt }: Network): object {
  const subnetworks = [...project.subnetworks.values()].filter((each) => each.network === name);
  return {
    kind: 'compute#network',
    id,
    name,
    creationTimestamp: time(createdAt),
    autoCreateSubnetworks: true,
    mtu: 1460,
    routingConfig: { routingMode: 'REGIONAL' },
    subnetworks: subnetworks.map((each) =>
      linkOf(`projects/${project.id}/regions/${each.region}/subnetworks/${each.name}`),
    ),
    selfLink: linkOf(`projects/${project.id}/global/networks/${name}`),
  };
}

function writeSubnetwork({ projectId }: Caller, { name, id, network, region, cidr, createdAt }: Subnetwork): object {
  return {
    kind: 'compute#subnetwork',
    id,
    name,
    creationTimestamp: time(createdAt),
    network: linkOf(`projects/${projectId}/global/networks/${network}`),
    ipCidrRange: cidr,
    gatewayAddress: cidr.replace(/\.0\/\d+$/, '.1'),
    region: linkOf(`projects/${projectId}/regions/${region}`),
    privateIpGoogleAccess: false,
    purpose: 'PRIVATE',
    stackType: 'IPV4_ONLY',
    fingerprint: fingerprintOf(id),
    selfLink: linkOf(`projects/${projectId}/regions/${region}/subnetworks/${name}`),
  };
}

const writeFirewall = ({ projectId }: Caller, { id, name, createdAt, body }: Firewall): object => ({
  ...body,
  kind: 'compute#firewall',
  id,
  creationTimestamp: time(createdAt),
  selfLink: linkOf(`projects/${projectId}/global/firewalls/${name}`),
});

function firewall({ path }: Request, caller: Caller, permission: string): Firewall {
  const name = path.get('firewall')!;
  const whole = `projects/${caller.projectId}/global/firewalls/${name}`;
  caller.may(permission, whole);
  const found = caller.project.firewalls.of(caller.projectId).find((each) => each.name === name);
  if (found === undefined) throw notFound(whole);
  return found;
}

function operate(request: Request, caller: Caller, type: string, target: string, act: () => void): object {
  const { project, bearer } = caller;
  return project.operations
    .once(textAt(request.query, 'requestId'), () => {
      act();
      const operation = project.operations.begin({
        type,
        project: project.id,
        scope: 'global',
        target,
        user: bearer.email,
      });
      queueMicrotask(() => operation.finish());
      return operation;
    })
    .shown();
}

function insertFirewall(request: Request<FirewallBody>, caller: Caller): object {
  const { name, network = 'global/networks/default' } = request.body;
  const path = `projects/${caller.projectId}/global/firewalls/${name}`;
  caller.may('compute.firewalls.create', path);
  caller.may('compute.networks.updatePolicy');
  return operate(request, caller, 'insert', `global/firewalls/${name}`, () => {
    const { project, world } = caller;
    const own = network.slice(network.lastIndexOf('/') + 1);
    if (!project.networks.has(own)) throw notFound(`projects/${project.id}/global/networks/${own}`);
    if (project.firewalls.of(project.id).some((each) => each.name === name))
      throw googleError('alreadyExists', `The resource '${path}' already exists`);
    if ((request.body.allowed ?? request.body.denied) === undefined)
      throw googleError(
        'required',
        "Invalid value for field 'resource': ''. At least one rule of allowed or denied is required.",
      );
    world.addFirewall(project, request.body);
  });
}

export const networkHandlers = handlers({
  'networks.list': (request: Request, caller) => {
    caller.may('compute.networks.list');
    const about = { kind: 'networkList', path: `projects/${caller.projectId}/global/networks` };
    return listOf(
      request,
      most,
      about,
      [...caller.project.networks.values()].map((each) => writeNetwork(caller, each)),
    );
  },

  'networks.get': (request: Request, caller) => {
    const path = `projects/${caller.projectId}/global/networks/${request.path.get('network')}`;
    caller.may('compute.networks.get', path);
    const found = caller.project.networks.get(request.path.get('network')!);
    if (found === undefined) throw notFound(path);
    return writeNetwork(caller, found);
  },

  'subnetworks.list': (request: Request, caller) => {
    caller.may('compute.subnetworks.list');
    const region = request.path.get('region')!;
    const found = [...caller.project.subnetworks.values()].filter((each) => each.region === region);
    const about = { kind: 'subnetworkList', path: `projects/${caller.projectId}/regions/${region}/subnetworks` };
    return listOf(
      request,
      most,
      about,
      found.map((each) => writeSubnetwork(caller, each)),
    );
  },

  'subnetworks.get': (request: Request, caller) => {
    const [region, name] = [request.path.get('region')!, request.path.get('subnetwork')!];
    const path = `projects/${caller.projectId}/regions/${region}/subnetworks/${name}`;
    caller.may('compute.subnetworks.get', path);
    const found = caller.project.subnetworks.get(`${region}/${name}`);
    if (found === undefined) throw notFound(path);
    return writeSubnetwork(caller, found);
  },

  'subnetworks.aggregatedList': (request: Request, caller) => {
    caller.may('compute.subnetworks.list');
    const about = {
      kind: 'subnetworkAggregatedList',
      path: `projects/${caller.projectId}/aggregated/subnetworks`,
      part: 'subnetworks',
    };
    const items = [...caller.project.subnetworks.values()].map((each) => ({
      scope: `regions/${each.region}`,
      item: writeSubnetwork(caller, each),
    }));
    return aggregatedOf(request, most, about, items);
  },

  'firewalls.list': (request: Request, caller) => {
    caller.may('compute.firewalls.list');
    const about = { kind: 'firewallList', path: `projects/${caller.projectId}/global/firewalls` };
    const all = caller.project.firewalls.of(caller.projectId);
    return listOf(
      request,
      most,
      about,
      all.map((each) => writeFirewall(caller, each)),
    );
  },

  'firewalls.get': (request: Request, caller) =>
    writeFirewall(caller, firewall(request, caller, 'compute.firewalls.get')),
  'firewalls.insert': insertFirewall,

  'firewalls.delete': (request: Request, caller) => {
    const { id, name } = firewall(request, caller, 'compute.firewalls.delete');
    caller.may('compute.networks.updatePolicy');
    return operate(request, caller, 'delete', `global/firewalls/${name}`, () => caller.project.firewalls.delete(id));
  },

  'firewalls.patch': (request: Request<Partial<FirewallBody>>, caller) => {
    const found = firewall(request, caller, 'compute.firewalls.update');
    return operate(request, caller, 'patch', `global/firewalls/${found.name}`, () =>
      caller.project.firewalls.add({ ...found, body: { ...found.body, ...request.body, name: found.name } }),
    );
  },
});
