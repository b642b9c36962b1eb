/** What accounts have beside instances. */

export interface Belonging {
  readonly id: string;
  readonly account: string;
  /** Where it is; those that are everywhere name none. */
  readonly region?: string;
  /** An instant. */
  readonly createdAt: number;
  tags: Readonly<Record<string, string>>;
}

export interface DiskOrder {
  /** Where the machine sees it, such as `/dev/sda1`. */
  readonly device: string;
  readonly gib: number;
  /** Such as `gp3`. */
  readonly kind: string;
  readonly deleteWithInstance: boolean;
  readonly image?: string;
  readonly iops?: number | undefined;
  readonly throughput?: number | undefined;
  readonly encrypted?: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

export interface Disk extends Belonging, Omit<DiskOrder, 'tags'> {
  readonly zone: string;
  deleteWithInstance: boolean;
  /** Whose it is; none when the instance has ended and the disk stayed. */
  instance: string | undefined;
}

export interface KeyPair extends Belonging {
  readonly name: string;
  readonly kind: 'rsa' | 'ed25519';
  /** As `authorized_keys` has it. */
  readonly publicKey: string;
  readonly fingerprint: string;
}

export interface GroupRule {
  readonly id: string;
  readonly outwards: boolean;
  /** `-1` is all of them. */
  readonly protocol: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** One of these is what the rule is about. */
  readonly cidr?: string;
  readonly cidr6?: string;
  readonly group?: string;
  readonly prefixList?: string;
  readonly description?: string | undefined;
}

export interface Group extends Belonging {
  readonly name: string;
  readonly description: string;
  readonly network: string;
  rules: readonly GroupRule[];
}

export interface Role extends Belonging {
  readonly name: string;
  readonly path: string;
  /** Who may take it on, as a policy. */
  readonly trust: string;
  readonly description?: string | undefined;
  /** Names of policies that others wrote. */
  attached: readonly string[];
  /** Its own, by name. */
  readonly own: Map<string, string>;
}

/** How a role comes to a machine. */
export interface Profile extends Belonging {
  readonly name: string;
  readonly path: string;
  role: string | undefined;
}

export interface Image extends Belonging {
  readonly name: string;
  readonly description: string;
  readonly architecture: 'x86_64' | 'arm64';
  readonly rootDevice: string;
  readonly rootGib: number;
  readonly owner: string;
  /** Images that succeed one another are of one family. */
  readonly family?: string;
  /** Who logs in to it. */
  readonly user: string;
}

export interface Reservation extends Belonging {
  readonly type: string;
  readonly zone: string;
  readonly total: number;
  /** A block ends its machines when it ends; a plain reservation lets them go on at the usual price. */
  readonly block: boolean;
  readonly until?: number | undefined;
  /** Only launches that name it get its machines. */
  readonly targeted: boolean;
}

/** Things of one kind, by id, in the order in which they were made. */
export class Store<T extends Belonging> {
  readonly #all = new Map<string, T>();

  add(each: T): T {
    this.#all.set(each.id, each);
    return each;
  }

  get(account: string, id: string): T | undefined {
    const found = this.#all.get(id);
    return found?.account === account ? found : undefined;
  }

  delete(id: string): void {
    this.#all.delete(id);
  }

  all(): readonly T[] {
    return [...this.#all.values()];
  }

  /** What an account has in a region; without one, everywhere. */
  of(account: string, region?: string): readonly T[] {
    return this.all().filter(
      (each) =>
        each.account === account && (region === undefined || each.region === undefined || each.region === region),
    );
  }
}

export class Belongings {
  readonly disks = new Store<Disk>();
  readonly keys = new Store<KeyPair>();
  readonly groups = new Store<Group>();
  readonly roles = new Store<Role>();
  readonly profiles = new Store<Profile>();
  readonly images = new Store<Image>();
  readonly reservations = new Store<Reservation>();
  /** What one dialect alone has, by kind. */
  readonly others = new Map<string, Store<Belonging>>();

  /** All of an account, or of all, with what kind of thing each is. Images are everybody's. */
  truth(account?: string): readonly (Belonging & { readonly kind: string })[] {
    const kinds = { disk: this.disks, key: this.keys, group: this.groups, role: this.roles, profile: this.profiles };
    const own: object = { ...kinds, reservation: this.reservations };
    const all = [...Object.entries(own), ...this.others] as readonly [string, Store<Belonging>][];
    return all.flatMap(([kind, store]) =>
      store
        .all()
        .filter((each) => account === undefined || each.account === account)
        .map((each) => ({ ...each, kind })),
    );
  }
}
