/** What Google has beside what every cloud has: projects, and what it remembers of each machine. */
import { type Belonging, type Disk, type Reservation, Store } from '../cloud/belongings.ts';
import type { Cloud } from '../cloud/cloud.ts';
import type { CloudInstance } from '../cloud/instance.ts';
import { Tokens } from './access/tokens.ts';
import { Workloads } from './access/workloads.ts';
import type { StoredImage } from './artifacts.ts';
import { asMachineType, customType, type GoogleType, googleTypes } from './catalog.ts';
import { type Image, publicImages, publishers } from './images.ts';
import { linkOf, numberOf, regionOfZone } from './names.ts';
import { type CustomRole, type Firewall, Project, type ServiceAccount } from './project.ts';
import type { FirewallBody, InstanceBody } from './shapes.ts';
import { TpuWorld } from './tpu/world.ts';

/** What Compute Engine remembers of an instance. */
export interface Facts {
  readonly body: InstanceBody;
  readonly name: string;
  readonly number: string;
  readonly type: GoogleType;
  readonly subnetwork: { readonly network: string; readonly link: string };
  readonly account: { readonly email: string; readonly scopes: readonly string[] } | undefined;
  /** What it counts for, by quota. */
  readonly usage: Readonly<Record<string, number>>;
  metadata: ReadonlyMap<string, string>;
  /** Counts its changes: the fingerprint is another one after each. */
  changes: number;
}

export interface OsLoginUser {
  readonly email: string;
  readonly user: string;
  readonly keys: Map<string, string>;
}

export interface GoogleWorldOptions {
  readonly cloud: Cloud;
  /** Whether accelerators are sold that Google sells no more. @default false */
  readonly retired?: boolean;
}

export class GoogleWorld {
  readonly cloud: Cloud;
  readonly tokens: Tokens;
  readonly workloads: Workloads;
  readonly tpu: TpuWorld;
  readonly sellsRetired: boolean;
  readonly projects = new Map<string, Project>();
  readonly osLogin = new Map<string, OsLoginUser>();
  /** Of projects, and of everybody. */
  readonly images: Image[] = [...publicImages];
  /** Images of containers, by their whole names. */
  readonly artifacts = new Map<string, StoredImage>();
  /** What disks are called, by their id. */
  readonly diskNames = new Map<string, string>();
  /** Who wants to be told when somebody has changed metadata. */
  readonly metadataChanged = new Set<() => void>();
  readonly #facts = new Map<string, Facts>();
  readonly #watchers = new Map<string, Set<(instance: CloudInstance) => void>>();
  readonly #custom = new Map<string, GoogleType>();

  constructor({ cloud, retired = false }: GoogleWorldOptions) {
    this.cloud = cloud;
    this.sellsRetired = retired;
    this.tokens = new Tokens(() => this.now());
    this.workloads = new Workloads(this.tokens);
    this.tpu = new TpuWorld(this);
    for (const kind of ['firewall', 'service-account', 'custom-role', 'queued-resource'])
      cloud.has.others.set(kind, new Store<Belonging>());
    cloud.changed.add((instance) => this.#changed(instance));
  }

  now(): number {
    return this.cloud.clock.now();
  }

  store<T extends Belonging>(kind: string): Store<T> {
    return this.cloud.has.others.get(kind) as unknown as Store<T>;
  }

  /** A project with what every project finds: a network, its rules, and the account of its machines. */
  addProject(id: string): Project {
    const stores = {
      firewalls: this.store<Firewall>('firewall'),
      serviceAccounts: this.store<ServiceAccount>('service-account'),
      roles: this.store<CustomRole>('custom-role'),
    };
    const project = new Project(id, stores, () => this.now());
    this.projects.set(id, project);
    this.addNetwork(project, 'default');
    const rule = (name: string, body: Omit<FirewallBody, 'name'>): void =>
      void this.addFirewall(project, { name, network: 'global/networks/default', priority: 65534, ...body });
    const anywhere = ['0.0.0.0/0'];
    rule('default-allow-ssh', { sourceRanges: anywhere, allowed: [{ IPProtocol: 'tcp', ports: ['22'] }] });
    rule('default-allow-icmp', { sourceRanges: anywhere, allowed: [{ IPProtocol: 'icmp' }] });
    const inside = ['tcp', 'udp'].map((IPProtocol) => ({ IPProtocol, ports: ['0-65535'] }));
    rule('default-allow-internal', { sourceRanges: ['10.128.0.0/9'], allowed: [...inside, { IPProtocol: 'icmp' }] });
    this.addAccount(project, project.computeAccount, 'Compute Engine default service account', ['roles/editor']);
    return project;
  }

  project(id: string): Project | undefined {
    return this.projects.get(id) ?? [...this.projects.values()].find(({ number }) => String(number) === id);
  }

  /** A network with a subnet in each region, as those that make their subnets themselves. */
  addNetwork(project: Project, name: string, regions = Object.keys(this.cloud.catalog.regions)): void {
    const key = `${project.id}/${name}`;
    project.networks.set(name, { name, id: numberOf(key), createdAt: this.now() });
    for (const [index, region] of regions.entries())
      this.addSubnetwork(project, name, region, name, `10.${128 + 2 * index}.0.0/20`);
  }

  addSubnetwork(project: Project, network: string, region: string, name: string, cidr = '10.10.0.0/20'): void {
    const id = numberOf(`${project.id}/${region}/${name}`);
    project.subnetworks.set(`${region}/${name}`, { name, id, network, region, cidr, createdAt: this.now() });
  }

  /** Takes a network away, with its subnets and rules, as careful companies do with the one that is there from the start. */
  removeNetwork(project: Project, name = 'default'): void {
    project.networks.delete(name);
    for (const [key, subnetwork] of project.subnetworks)
      if (subnetwork.network === name) project.subnetworks.delete(key);
    for (const { id, body } of project.firewalls.of(project.id))
      if (body.network?.endsWith(`/${name}`)) project.firewalls.delete(id);
  }

  addFirewall(project: Project, body: FirewallBody): Firewall {
    const network = linkOf(
      `projects/${project.id}/${(body.network ?? 'global/networks/default').replace(/^.*?(?=global\/)/, '')}`,
    );
    return project.firewalls.add({
      id: numberOf(`${project.id}/firewalls/${body.name}/${this.now()}`),
      account: project.id,
      createdAt: this.now(),
      tags: {},
      name: body.name,
      body: { direction: 'INGRESS', priority: 1000, disabled: false, ...body, network },
    });
  }

  addAccount(project: Project, email: string, displayName = '', roles: readonly string[] = []): ServiceAccount {
    project.grant(`serviceAccount:${email}`, ...roles);
    const number = numberOf(email).slice(0, 21);
    const base = { account: project.id, createdAt: this.now(), tags: {} };
    return project.serviceAccounts.add({ ...base, id: `${project.id}/${email}`, email, number, displayName });
  }

  addImage(image: Partial<Image> & Pick<Image, 'project' | 'name'>): Image {
    const made = { gib: 10, arm: false, createdAt: this.now(), ...image };
    this.images.push(made);
    return made;
  }

  addTemplate(project: Project, name: string, properties: InstanceBody): void {
    project.templates.set(name, { name, id: numberOf(`${project.id}/${name}`), createdAt: this.now(), properties });
  }

  /** Machines that a project has set aside; `type` is that of a machine, or of a slice. */
  addReservation(
    has: Partial<Reservation> & Pick<Reservation, 'account' | 'type' | 'zone' | 'total' | 'id'>,
  ): Reservation {
    const base = { region: regionOfZone(has.zone), createdAt: this.now(), tags: {}, block: false, targeted: true };
    return this.cloud.has.reservations.add({ ...base, ...has });
  }

  /** The image at a partial link, or the newest of a family. */
  image(own: string, link: string): Image | undefined {
    const match = /^(?:projects\/([^/]+)\/)?global\/images\/(family\/)?([^/]+)$/.exec(link);
    if (match === null) return undefined;
    const [, project = own, family, name = ''] = match;
    if (project !== own && !publishers.has(project) && !this.projects.has(project)) return undefined;
    const all = this.images.filter((image) => image.project === project);
    if (family === undefined) return all.find((image) => image.name === name);
    return all.filter((image) => image.family === name).sort((a, b) => b.createdAt - a.createdAt)[0];
  }

  /** Types on sale, those that are made to measure included. */
  type(name: string): GoogleType | undefined {
    const known = googleTypes.get(name) ?? this.#custom.get(name);
    if (known !== undefined) return known;
    const made = customType(name);
    if (made === undefined) return undefined;
    this.#custom.set(name, made);
    (this.cloud.catalog.machine_types as unknown[]).push(asMachineType(made));
    return made;
  }

  remember(instance: string, facts: Facts): void {
    this.#facts.set(instance, facts);
  }

  /** Undefined of what is no instance of Compute Engine, such as a host of a slice. */
  facts(instance: CloudInstance): Facts | undefined {
    return this.#facts.get(instance.id);
  }

  /** The instance of a name, as long as anybody can see it. */
  instance(project: string, zone: string, name: string): CloudInstance | undefined {
    return this.cloud
      .existing(project)
      .findLast(
        (each) =>
          each.zone === zone &&
          each.now.refused === undefined &&
          (each.name === name || this.facts(each)?.number === name) &&
          this.facts(each),
      );
  }

  /** Tells machines that wait for it that metadata have changed. */
  tellMetadata(): void {
    for (const tell of this.metadataChanged) tell();
  }

  disksOf(instance: string): readonly Disk[] {
    return this.cloud.has.disks.all().filter((disk) => disk.instance === instance);
  }

  /** Is told of every change of one instance, until it says that it has seen enough. */
  watch(instance: CloudInstance, told: (instance: CloudInstance) => boolean): void {
    const all = this.#watchers.get(instance.id) ?? new Set();
    this.#watchers.set(instance.id, all);
    const tell = (each: CloudInstance): void => {
      if (told(each)) all.delete(tell);
    };
    all.add(tell);
    tell(instance);
  }

  #changed(instance: CloudInstance): void {
    for (const tell of this.#watchers.get(instance.id) ?? []) tell(instance);
    this.tpu.changed(instance);
    if (instance.now.cause === 'preemption' && /^(?:terminating|stopping)$/.test(instance.now.state))
      this.#preempted(instance);
  }

  /** Compute Engine writes down what it does of its own accord. */
  #preempted(instance: CloudInstance): void {
    const facts = this.facts(instance);
    const project = this.projects.get(instance.account);
    if (facts === undefined || project === undefined) return;
    const scope = `zones/${instance.zone}`;
    const target = `${scope}/instances/${facts.name}`;
    const order = { type: 'compute.instances.preempted', project: project.id, scope, target, targetId: facts.number };
    project.operations.begin({ ...order, user: 'system@google.com' }).finish();
  }
}
