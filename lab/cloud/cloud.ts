import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/base/time/clock.ts';
import { Belongings } from './belongings.ts';
import {
  type Catalog,
  labCatalog,
  type Market,
  machineType,
  type Price,
  type PriceQuestion,
  pricesOf,
  regionOf,
  zonesOf,
} from './catalog.ts';
import { cloudErrors } from './errors.ts';
import { type FaultName, type FaultRule, Faults } from './faults.ts';
import type { Hypervisor } from './hypervisor.ts';
import { CloudInstance, type LaunchOrder, type ShownInstance, type Snapshot } from './instance.ts';
import { machineClock } from './instant.ts';
import { Machines } from './machines.ts';
import { Random } from './random.ts';
import { allowedCount, roomFor } from './room.ts';
import { defaultSettings, patchSettings, type Settings, type SettingsPatch } from './settings.ts';

export interface CloudOptions {
  readonly hypervisor: Hypervisor;
  /** @default `labCatalog` */
  readonly catalog?: Catalog;
  readonly settings?: SettingsPatch;
  /** Whether stopped instances keep their machine, and count against quotas. @default true */
  readonly stoppedHold?: boolean;
  /** @default that of this machine */
  readonly clock?: Clock;
  /** Of everything that is drawn. @default 1 */
  readonly seed?: number;
}

export interface ListQuery {
  readonly tags: Readonly<Record<string, string>>;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface Page {
  readonly instances: readonly ShownInstance[];
  readonly next_page?: string;
}

/** One instance of a list, as it was. */
export interface Listed {
  readonly instance: CloudInstance;
  readonly snapshot: Snapshot;
}

/** Where a list goes on, and which instant it is a list of. */
interface Cursor {
  readonly at: number;
  readonly after: number;
}

interface Launch {
  readonly asked: string;
  readonly made: readonly CloudInstance[];
}

const mostAtOnce = 1000;
/** Milliseconds; timers cannot wait for longer. */
const longestTimer = 2 ** 31 - 1;
/** Of a GiB, an hour: eight cents a month. */
export const diskPrice = 0.08 / 730;

/** The cloud itself, without its HTTP. Every decision is taken at once; only what machines do takes time. */
export class Cloud {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly faults: Faults;
  readonly random: Random;
  readonly has = new Belongings();
  /** Who wants to be told when an instance has come to its end. */
  readonly ended = new Set<(instance: CloudInstance) => void>();
  /** Who wants to be told of every change of an instance. */
  readonly changed = new Set<(instance: CloudInstance) => void>();
  settings: Settings;
  readonly #stoppedHold: boolean;
  readonly #machines: Machines;
  /** In the order of their launch. */
  readonly #instances: CloudInstance[] = [];
  readonly #byId = new Map<string, CloudInstance>();
  readonly #launches = new Map<string, Launch>();
  readonly #name = randomBytes(3).toString('hex');
  #disks = 0;
  #slices = 0;

  constructor({
    hypervisor,
    catalog = labCatalog,
    settings = {},
    stoppedHold = true,
    clock = machineClock,
    seed = 1,
  }: CloudOptions) {
    this.clock = clock;
    this.catalog = catalog;
    this.random = new Random(seed);
    this.faults = new Faults(this.random);
    this.settings = patchSettings(defaultSettings, settings);
    this.#stoppedHold = stoppedHold;
    this.#machines = new Machines(
      hypervisor,
      clock,
      this.random,
      () => this.settings,
      (instance) => {
        this.#releaseDisks(instance);
        for (const tell of this.ended) tell(instance);
      },
    );
  }

  /** The same client token again gives what the first call made, as far as it still exists. */
  launch(account: string, body: LaunchOrder): readonly ShownInstance[] {
    const { client_token } = body;
    if (client_token === undefined) return this.#make(account, body).map(showNow);
    const key = `${account}\0${client_token}`;
    const asked = JSON.stringify([body.machine_type, body.zone, body.market, body.count, body.min_count, body.slice]);
    const earlier = this.#launches.get(key);
    if (earlier !== undefined && earlier.asked !== asked) throw cloudErrors.tokenReused(client_token);
    const made = earlier?.made ?? this.#make(account, body);
    this.#launches.set(key, { asked, made });
    return made.filter((instance) => instance.exists).map(showNow);
  }

  /** A launch whose token, if there is one, is none of this cloud's business. */
  make(account: string, order: LaunchOrder): readonly CloudInstance[] {
    return this.#make(account, order);
  }

  list(account: string, { tags, pageSize, pageToken }: ListQuery): Page {
    const fits = ({ snapshot }: Listed): boolean =>
      Object.entries(tags).every(([name, value]) => snapshot.tags[name] === value);
    const { entries, next } = this.page(account, { pageSize, pageToken }, fits);
    const instances = entries.map(({ instance, snapshot }) => instance.shown(snapshot));
    return { instances, ...(next !== undefined && { next_page: next }) };
  }

  /** One page of those that fit, in the order of their launch. All pages of a list tell of the same instant. */
  page(
    account: string,
    { pageSize, pageToken }: Omit<ListQuery, 'tags'>,
    fits: (listed: Listed) => boolean,
  ): { readonly entries: readonly Listed[]; readonly next?: string } {
    const { list_lag_s, tag_lag_s, page_size, show_terminated_s } = this.settings;
    const cursor = pageToken === undefined ? this.#firstPage(account, list_lag_s) : readCursor(pageToken);
    const size = Math.min(pageSize ?? page_size, page_size);
    const entries: Listed[] = [];
    for (let index = cursor.after; index < this.#instances.length; index++) {
      const instance = this.#instances[index] as CloudInstance;
      const found = instance.account === account ? instance.asOf(cursor.at) : undefined;
      if (found === undefined) continue;
      if (found.state === 'terminated' && cursor.at - found.at > 1000 * show_terminated_s) continue;
      const tags = tag_lag_s > 0 ? (instance.asOf(cursor.at - 1000 * tag_lag_s)?.tags ?? {}) : found.tags;
      const listed = { instance, snapshot: { ...found, tags } };
      if (!fits(listed)) continue;
      if (entries.length >= size) return { entries, next: writeCursor({ at: cursor.at, after: index }) };
      entries.push(listed);
      if (this.#takes('duplicate-entry', instance)) entries.push(listed);
    }
    return { entries };
  }

  get(account: string, id: string): ShownInstance {
    const instance = this.#byId.get(id);
    const snapshot = instance?.asOf(this.clock.now() - 1000 * this.settings.list_lag_s);
    if (instance === undefined || instance.account !== account || snapshot === undefined)
      throw cloudErrors.notFound(`instance '${id}'`);
    return instance.shown(snapshot);
  }

  /** Those that are not known are named and do not matter. */
  terminate(account: string, ids: readonly string[]): { terminating: string[]; unknown: string[] } {
    const known = ids.filter((id) => this.#find(account, id)?.exists);
    for (const id of known)
      for (const member of this.#slice(this.#find(account, id) as CloudInstance))
        this.#machines.end(member, 'its end was ordered', 'order');
    return { terminating: known, unknown: ids.filter((id) => !known.includes(id)) };
  }

  tag(account: string, id: string, tags: Readonly<Record<string, string>>): ShownInstance {
    const instance = this.#existing(account, id);
    instance.change({ tags: { ...instance.now.tags, ...tags } }, this.clock.now());
    return showNow(instance);
  }

  /** These tags in place of those that it has. */
  retag(account: string, id: string, tags: Readonly<Record<string, string>>): void {
    this.#existing(account, id).change({ tags }, this.clock.now());
  }

  stop(account: string, id: string): ShownInstance {
    const instance = this.#existing(account, id);
    const { state } = instance.now;
    if (state === 'running') this.#machines.stop(instance);
    else if (state !== 'stopping' && state !== 'stopped') throw cloudErrors.wrongState(id, state);
    return showNow(instance);
  }

  start(account: string, id: string): ShownInstance {
    const instance = this.#existing(account, id);
    const { state } = instance.now;
    if (state === 'stopped') {
      if (!this.#stoppedHold) this.#mayStart(instance);
      this.#machines.start(instance);
    }
    if (state !== 'stopped' && state !== 'pending' && state !== 'running') throw cloudErrors.wrongState(id, state);
    return showNow(instance);
  }

  console(account: string, id: string): string {
    return this.#existing(account, id).machine?.console() ?? '';
  }

  prices(about?: PriceQuestion): readonly Price[] {
    return pricesOf(this.catalog, this.settings.prices, about);
  }

  /** Takes an instance back, told so long before. */
  preempt(id: string, notice_s: number): void {
    this.#machines.preempt(this.#any(id), 1000 * notice_s);
  }

  /** Tells that an instance may be taken back soon. */
  rebalance(id: string): void {
    this.#machines.rebalance(this.#any(id));
  }

  /** The machine is gone, and nobody ever heard of it. */
  vanish(id: string): void {
    this.#machines.vanish(this.#any(id));
  }

  /** The instance whose machine has this address, for who asks from inside of it. */
  at(address: string): CloudInstance | undefined {
    return this.#instances.findLast((instance) => instance.exists && instance.machine?.address === address);
  }

  /** Those of an account that take room and cost money. */
  existing(account?: string): readonly CloudInstance[] {
    return this.#instances.filter((each) => each.exists && (account === undefined || each.account === account));
  }

  /** What each thing costs in an hour: machines while they run, or are kept for an instance, and disks all the time. */
  costs(account?: string): readonly { id: string; account: string; kind: 'instance' | 'disk'; per_hour: number }[] {
    const machines = this.existing(account)
      .filter(({ now }) => this.#stoppedHold || (now.state !== 'stopped' && now.state !== 'stopping'))
      .map(({ id, account: whose, order, zone, market }) => {
        const usual = market === 'reserved' ? 'on-demand' : market;
        const price = this.prices({ types: [order.machine_type], zones: [zone] }).find((p) => p.market === usual);
        return { id, account: whose, kind: 'instance' as const, per_hour: price?.price ?? 0 };
      });
    const disks = this.has.disks
      .all()
      .filter((disk) => account === undefined || disk.account === account)
      .map(({ id, account: whose, gib }) => ({ id, account: whose, kind: 'disk' as const, per_hour: gib * diskPrice }));
    return [...machines, ...disks];
  }

  instance(id: string): CloudInstance | undefined {
    return this.#byId.get(id);
  }

  /** Everything that ever was, as it is now. */
  truth(): readonly (ShownInstance & { readonly account: string; readonly exists: boolean })[] {
    return this.#instances.map((instance) => ({
      ...showNow(instance),
      account: instance.account,
      exists: instance.exists,
    }));
  }

  /** Ends every instance, of one account or of all, and waits until they are gone. */
  async empty(account?: string): Promise<void> {
    const mine = this.#instances.filter((instance) => account === undefined || instance.account === account);
    for (const instance of mine.filter(({ exists }) => exists))
      this.#machines.end(instance, 'the account was emptied', 'order');
    await Promise.all(mine.map((instance) => instance.inTurn(async () => {})));
  }

  async close(): Promise<void> {
    this.ended.clear();
    this.changed.clear();
    this.faults.clear();
    this.settings = { ...this.settings, terminate_s: [0, 0] };
    // Sleeps of the cloud keep no process alive, and this one must see the end of those that are under way.
    const hold = setInterval(() => {}, 1000);
    await this.empty();
    clearInterval(hold);
    this.#machines.close();
  }

  #make(account: string, body: LaunchOrder): readonly CloudInstance[] {
    const type = machineType(this.catalog, body.machine_type);
    const { market = 'on-demand', zone, region, count = 1, min_count = 1 } = body;
    const hosts = body.slice?.hosts ?? 1;
    if (count * hosts > mostAtOnce || min_count > count)
      throw cloudErrors.invalid(`count must be ${min_count} to ${mostAtOnce}, not ${count}`);
    if (zone !== undefined && !zonesOf(this.catalog).includes(zone))
      throw cloudErrors.invalid(`there is no zone '${zone}'`);
    const chance = { call: 'launch', account, type: type.name, zone, market } as const;
    const words = `${type.name}${zone === undefined ? '' : ` in ${zone}`} (${market})`;
    const denied = this.faults.take('denied', chance);
    if (denied) throw cloudErrors.denied(denied.message);
    const quota = this.faults.take('quota', chance);
    if (quota) throw cloudErrors.quota(quota.message ?? `the account may not have another ${words}`);
    const none = this.faults.take('no-capacity', chance);
    if (none) throw cloudErrors.noCapacity(none.message ?? `there is no ${words} left`);

    const existing = this.#holding();
    const allowed = allowedCount(this.settings.quotas, existing, { account, market, cpus: type.cpus });
    if (allowed.count < min_count * hosts)
      throw cloudErrors.quota(`${allowed.why} does not allow ${count} of ${words}`, allowed.quota);
    const disks = this.#allowedDisks(account, body);
    if (disks < min_count * hosts)
      throw cloudErrors.quota(
        `a quota of ${this.settings.quotas.disk_gib} GiB of disks does not allow ${count} of ${words}`,
        'disk_gib',
      );
    const zones = zone !== undefined ? [zone] : region ? this.catalog.regions[region]! : zonesOf(this.catalog);
    const rooms = zones.map((each) => ({
      zone: each,
      room: this.#room(account, existing, { type: type.name, zone: each, market, reservation: body.reservation }),
    }));
    const place = rooms.find(({ room }) => room >= min_count * hosts);
    if (place === undefined) throw cloudErrors.noCapacity(`there is no ${words} left`);
    let given = Math.min(count, Math.floor(Math.min(allowed.count, disks, place.room) / hosts));
    const partial = given > min_count ? this.faults.take('partial-fill', chance) : undefined;
    if (partial) given = Math.max(min_count, Math.min(partial.count ?? given - 1, given));
    return Array.from({ length: given }, (_, at) => {
      const id = body.slice === undefined ? undefined : `s-${this.#name}${String(this.#slices++).padStart(11, '0')}`;
      return Array.from({ length: hosts }, (_, index) =>
        this.#add(account, body, place.zone, {
          name: body.names?.[at * hosts + index],
          slice: id === undefined ? undefined : { id, index, of: hosts },
        }),
      );
    }).flat();
  }

  /** Instances that take room and count against quotas. */
  #holding(): readonly CloudInstance[] {
    return this.#instances.filter(({ exists, now }) => exists && (this.#stoppedHold || now.state !== 'stopped'));
  }

  #room(
    account: string,
    existing: readonly CloudInstance[],
    about: { type: string; zone: string; market: Market; reservation: string | undefined },
  ): number {
    if (about.market !== 'reserved') return roomFor(this.settings.capacity, existing, about);
    const found = this.has.reservations.get(account, about.reservation ?? '');
    if (found === undefined || found.type !== about.type || found.zone !== about.zone) return 0;
    if (found.until !== undefined && found.until <= this.clock.now()) return 0;
    return found.total - existing.filter(({ order }) => order.reservation === found.id).length;
  }

  #allowedDisks(account: string, { disks = [] }: LaunchOrder): number {
    const { disk_gib } = this.settings.quotas;
    const asked = disks.reduce((sum, { gib }) => sum + gib, 0);
    if (disk_gib === null || asked === 0) return Number.POSITIVE_INFINITY;
    const used = this.has.disks.of(account).reduce((sum, { gib }) => sum + gib, 0);
    return Math.floor((disk_gib - used) / asked);
  }

  #mayStart({ account, order, zone, market, cpus }: CloudInstance): void {
    const existing = this.#holding();
    const allowed = allowedCount(this.settings.quotas, existing, { account, market, cpus });
    const words = `${order.machine_type} in ${zone} (${market})`;
    if (allowed.count < 1) throw cloudErrors.quota(`${allowed.why} does not allow another ${words}`, allowed.quota);
    const about = { type: order.machine_type, zone, market, reservation: order.reservation };
    const none = this.faults.take('no-capacity', { call: 'start', account, ...about });
    if (none || this.#room(account, existing, about) < 1)
      throw cloudErrors.noCapacity(none?.message ?? `there is no ${words} left`);
  }

  #addDisks({ id, account, order, zone }: CloudInstance, at: number): void {
    const region = regionOf(this.catalog, zone)!;
    for (const disk of order.disks ?? []) {
      const name = `vol-${this.#name}${String(this.#disks++).padStart(11, '0')}`;
      this.has.disks.add({ ...disk, id: name, account, region, zone, createdAt: at, instance: id });
    }
  }

  #releaseDisks({ id }: CloudInstance): void {
    for (const disk of this.has.disks.all().filter(({ instance }) => instance === id)) {
      if (disk.deleteWithInstance) this.has.disks.delete(disk.id);
      else disk.instance = undefined;
    }
  }

  /** Hosts of one slice live and end together. */
  #slice(instance: CloudInstance): readonly CloudInstance[] {
    const { slice } = instance;
    return slice === undefined ? [instance] : this.#instances.filter((each) => each.slice?.id === slice.id);
  }

  #add(account: string, order: LaunchOrder, zone: string, known: Pick<CloudInstance, 'name' | 'slice'>): CloudInstance {
    const id = `i-${this.#name}${String(this.#instances.length).padStart(11, '0')}`;
    const { cpus } = machineType(this.catalog, order.machine_type);
    const made = { id, ...known, account, order, zone, market: order.market ?? 'on-demand', cpus } as const;
    const instance = new CloudInstance(made, order.tags ?? {}, this.clock, (each) => {
      for (const tell of this.changed) tell(each);
    });
    this.#instances.push(instance);
    this.#byId.set(id, instance);
    this.#addDisks(instance, instance.launchedAt);
    const refusal = this.#takes('late-refusal', instance);
    const rebalance = this.#takes('rebalance', instance);
    const delay = (rule: FaultRule | undefined): number | undefined => rule && this.faults.delay(rule);
    const vanish = delay(this.#takes('vanish', instance));
    const preempt = this.#takes('preempt', instance);
    this.#machines.begin(instance, {
      slow: delay(this.#takes('slow-boot', instance)) ?? 0,
      hangs: this.#takes('hang-boot', instance) !== undefined || refusal !== undefined,
      dead: this.#takes('dead-boot', instance) !== undefined,
      sshd: this.#takes('no-ssh', instance) === undefined,
    });
    if (vanish !== undefined) this.#machines.after(vanish, () => this.#machines.vanish(instance));
    if (rebalance !== undefined)
      this.#machines.after(this.faults.delay(rebalance), () => this.#machines.rebalance(instance));
    if (refusal !== undefined) {
      const { code = 'no-capacity', message = 'there was no machine left' } = refusal;
      this.#machines.after(this.faults.delay(refusal), () => this.#machines.refuse(instance, code, message));
    }
    const block = this.has.reservations.get(account, order.reservation ?? '');
    if (block?.block && block.until !== undefined) {
      const left = Math.max(0, block.until - this.clock.now());
      if (left < longestTimer) this.#machines.preempt(instance, left);
    }
    if (preempt !== undefined) {
      const notice = 1000 * (preempt.notice_s ?? 0);
      const wait = Math.max(0, this.faults.delay(preempt) - notice);
      this.#machines.after(wait, () => this.#machines.preempt(instance, notice));
    }
    return instance;
  }

  #takes(fault: FaultName, { account, order, zone, market }: CloudInstance): FaultRule | undefined {
    return this.faults.take(fault, { account, type: order.machine_type, zone, market });
  }

  #firstPage(account: string, lag_s: number): Cursor {
    const stale = this.faults.take('stale-list', { call: 'list', account });
    return { at: this.clock.now() - 1000 * Math.max(lag_s, stale ? (stale.seconds ?? 5) : 0), after: 0 };
  }

  #find(account: string, id: string): CloudInstance | undefined {
    const instance = this.#byId.get(id);
    return instance?.account === account ? instance : undefined;
  }

  #existing(account: string, id: string): CloudInstance {
    const instance = this.#find(account, id);
    if (!instance?.exists) throw cloudErrors.notFound(`instance '${id}'`);
    return instance;
  }

  #any(id: string): CloudInstance {
    const instance = this.#byId.get(id);
    if (!instance?.exists) throw cloudErrors.notFound(`instance '${id}'`);
    return instance;
  }
}

const showNow = (instance: CloudInstance): ShownInstance => instance.shown(instance.now);

const writeCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function readCursor(text: string): Cursor {
  try {
    const { at, after } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Cursor;
    if (typeof at === 'number' && Number.isInteger(after) && after >= 0) return { at, after };
  } catch {
    // As one that was made up.
  }
  throw cloudErrors.invalid('page_token is none that a list gave');
}
