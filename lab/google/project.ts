/** One project: its networks, metadata, service accounts, policies, quotas and operations. */
import type { Belonging, Store } from '../cloud/belongings.ts';
import { permissionsOf } from './access/roles.ts';
import { fingerprintOf, numberOf } from './names.ts';
import { Operations } from './operations.ts';
import type { FirewallBody, InstanceBody } from './shapes.ts';

export interface Network {
  readonly name: string;
  readonly id: string;
  readonly createdAt: number;
}

export interface Subnetwork {
  readonly name: string;
  readonly id: string;
  readonly network: string;
  readonly region: string;
  readonly cidr: string;
  readonly createdAt: number;
}

export interface Firewall extends Belonging {
  readonly name: string;
  readonly body: FirewallBody;
}

export interface ServiceAccount extends Belonging {
  readonly email: string;
  readonly number: string;
  readonly displayName: string;
}

export interface CustomRole extends Belonging {
  readonly title: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly stage: string;
}

export interface Binding {
  readonly role: string;
  readonly members: readonly string[];
  /** It holds only then; the fake takes it for always so. */
  readonly condition?: { readonly title: string; readonly expression: string };
}

/** Most that a project may have of something, in a zone, a region or all in all. */
export interface QuotaLimit {
  readonly metric: string;
  readonly limit: number;
  readonly region?: string;
  readonly zone?: string;
}

export interface Template {
  readonly name: string;
  readonly id: string;
  readonly createdAt: number;
  readonly properties: InstanceBody;
}

export class Project {
  readonly id: string;
  readonly number: number;
  readonly createdAt: number;
  readonly operations: Operations;
  readonly networks = new Map<string, Network>();
  /** By region and name. */
  readonly subnetworks = new Map<string, Subnetwork>();
  readonly firewalls: Store<Firewall>;
  readonly serviceAccounts: Store<ServiceAccount>;
  readonly roles: Store<CustomRole>;
  readonly templates = new Map<string, Template>();
  /** APIs that are switched off, such as `tpu`. */
  readonly disabled = new Set<string>();
  /** Organisation policies that are in force, with the values that they allow. */
  readonly policies = new Map<string, readonly string[]>();
  readonly quotas: QuotaLimit[] = [];
  readonly #now: () => number;
  #metadata: ReadonlyMap<string, string> = new Map();
  #bindings: readonly Binding[] = [];
  #before: readonly Binding[] = [];
  #boundAt = Number.NEGATIVE_INFINITY;

  constructor(id: string, stores: Pick<Project, 'firewalls' | 'serviceAccounts' | 'roles'>, now: () => number) {
    this.id = id;
    this.number = 100_000_000_000 + (Number(numberOf(id).slice(-11)) % 899_999_999_999);
    this.#now = now;
    this.createdAt = now();
    this.operations = new Operations(now);
    ({ firewalls: this.firewalls, serviceAccounts: this.serviceAccounts, roles: this.roles } = stores);
  }

  /** The account that machines have unless they say otherwise. */
  get computeAccount(): string {
    return `${this.number}-compute@developer.gserviceaccount.com`;
  }

  get metadata(): ReadonlyMap<string, string> {
    return this.#metadata;
  }

  set metadata(items: ReadonlyMap<string, string>) {
    this.#metadata = items;
  }

  get bindings(): readonly Binding[] {
    return this.#bindings;
  }

  get etag(): string {
    return fingerprintOf([this.#bindings, this.#boundAt]);
  }

  bind(bindings: readonly Binding[]): void {
    this.#before = this.#bindings;
    this.#bindings = bindings;
    this.#boundAt = this.#now();
  }

  /** Gives a member one more role, at once. */
  grant(member: string, ...roles: readonly string[]): void {
    for (const role of roles) {
      const others = this.#bindings.filter((each) => each.role !== role);
      const members = this.#bindings.find((each) => each.role === role)?.members ?? [];
      this.#bindings = [...others, { role, members: [...new Set([...members, member])] }];
    }
    this.#before = this.#bindings;
  }

  /** What somebody may do here. A new policy is not known everywhere for so long. */
  allows(email: string, permission: string, lag_s: number): boolean {
    const known = this.#now() - this.#boundAt < 1000 * lag_s ? this.#before : this.#bindings;
    const members = [`user:${email}`, `serviceAccount:${email}`, 'allAuthenticatedUsers'];
    return known
      .filter((binding) => binding.members.some((member) => members.includes(member)))
      .some(({ role }) => this.permissionsOf(role)?.includes(permission));
  }

  /** Of a predefined role, or of one of the project's own. */
  permissionsOf(role: string): readonly string[] | undefined {
    return permissionsOf(role) ?? this.roles.get(this.id, role)?.permissions;
  }

  account(email: string): ServiceAccount | undefined {
    return this.serviceAccounts.of(this.id).find((each) => each.email === email || each.number === email);
  }
}
