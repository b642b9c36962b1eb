import { randomBytes } from 'node:crypto';
import { type Catalog, labCatalog, machineType, type Price, pricesOf, zonesOf } from './catalog.ts';
import { cloudErrors } from './errors.ts';
import { type FaultName, type FaultRule, Faults } from './faults.ts';
import type { Ground } from './ground.ts';
import { CloudInstance, type LaunchBody, type ShownInstance } from './instance.ts';
import { instant } from './instant.ts';
import { Machines } from './machines.ts';
import { Random } from './random.ts';
import { allowedCount, roomFor } from './room.ts';
import { defaultSettings, patchSettings, type Settings } from './settings.ts';

export interface CloudOptions {
  readonly ground: Ground;
  /** @default `labCatalog` */
  readonly catalog?: Catalog;
  readonly settings?: Partial<Settings>;
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

/** The cloud itself, without its HTTP. Every decision is taken at once; only what machines do takes time. */
export class Cloud {
  readonly catalog: Catalog;
  readonly faults: Faults;
  readonly random: Random;
  settings: Settings;
  readonly #machines: Machines;
  /** In the order of their launch. */
  readonly #instances: CloudInstance[] = [];
  readonly #byId = new Map<string, CloudInstance>();
  readonly #launches = new Map<string, Launch>();
  readonly #name = randomBytes(3).toString('hex');

  constructor({ ground, catalog = labCatalog, settings = {}, seed = 1 }: CloudOptions) {
    this.catalog = catalog;
    this.random = new Random(seed);
    this.faults = new Faults(this.random);
    this.settings = patchSettings(defaultSettings, settings);
    this.#machines = new Machines(ground, this.random, () => this.settings);
  }

  /** The same client token again gives what the first call made, as far as it still exists. */
  launch(account: string, body: LaunchBody): readonly ShownInstance[] {
    const { client_token } = body;
    if (client_token === undefined) return this.#make(account, body).map(showNow);
    const key = `${account}\0${client_token}`;
    const asked = JSON.stringify([body.machine_type, body.zone, body.market, body.count, body.min_count]);
    const earlier = this.#launches.get(key);
    if (earlier !== undefined && earlier.asked !== asked) throw cloudErrors.tokenReused(client_token);
    const made = earlier?.made ?? this.#make(account, body);
    this.#launches.set(key, { asked, made });
    return made.filter((instance) => instance.exists).map(showNow);
  }

  list(account: string, { tags, pageSize, pageToken }: ListQuery): Page {
    const { list_lag_s, page_size, show_terminated_s } = this.settings;
    const cursor = pageToken === undefined ? this.#firstPage(account, list_lag_s) : readCursor(pageToken);
    const size = Math.min(pageSize ?? page_size, page_size);
    const shown: ShownInstance[] = [];
    for (let index = cursor.after; index < this.#instances.length; index++) {
      const instance = this.#instances[index] as CloudInstance;
      const snapshot = instance.account === account ? instance.asOf(cursor.at) : undefined;
      if (snapshot === undefined) continue;
      if (snapshot.state === 'terminated' && cursor.at - snapshot.at > 1000 * show_terminated_s) continue;
      if (!Object.entries(tags).every(([name, value]) => snapshot.tags[name] === value)) continue;
      if (shown.length >= size) return { instances: shown, next_page: writeCursor({ at: cursor.at, after: index }) };
      shown.push(instance.shown(snapshot));
      if (this.#takes('duplicate-entry', instance)) shown.push(instance.shown(snapshot));
    }
    return { instances: shown };
  }

  get(account: string, id: string): ShownInstance {
    const instance = this.#byId.get(id);
    const snapshot = instance?.asOf(instant() - 1000 * this.settings.list_lag_s);
    if (instance === undefined || instance.account !== account || snapshot === undefined)
      throw cloudErrors.notFound(`instance '${id}'`);
    return instance.shown(snapshot);
  }

  /** Those that are not known are named and do not matter. */
  terminate(account: string, ids: readonly string[]): { terminating: string[]; unknown: string[] } {
    const known = ids.filter((id) => this.#find(account, id)?.exists);
    for (const id of known) this.#machines.end(this.#find(account, id) as CloudInstance, 'its end was ordered');
    return { terminating: known, unknown: ids.filter((id) => !known.includes(id)) };
  }

  tag(account: string, id: string, tags: Readonly<Record<string, string>>): ShownInstance {
    const instance = this.#existing(account, id);
    instance.change({ tags: { ...instance.now.tags, ...tags } }, instant());
    return showNow(instance);
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
    if (state === 'stopped') this.#machines.start(instance);
    else if (state !== 'pending' && state !== 'running') throw cloudErrors.wrongState(id, state);
    return showNow(instance);
  }

  console(account: string, id: string): string {
    return this.#existing(account, id).machine?.console() ?? '';
  }

  prices(): readonly Price[] {
    return pricesOf(this.catalog, this.settings.prices);
  }

  /** Takes an instance back, told so long before. */
  preempt(id: string, notice_s: number): void {
    this.#machines.preempt(this.#any(id), 1000 * notice_s);
  }

  /** The machine is gone, and nobody ever heard of it. */
  vanish(id: string): void {
    this.#machines.vanish(this.#any(id));
  }

  /** The instance whose machine has this address, for who asks from inside of it. */
  at(address: string): CloudInstance | undefined {
    return this.#instances.findLast((instance) => instance.exists && instance.machine?.address === address);
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
    for (const instance of mine.filter(({ exists }) => exists)) this.#machines.end(instance, 'the account was emptied');
    await Promise.all(mine.map((instance) => instance.inTurn(async () => {})));
  }

  async close(): Promise<void> {
    this.faults.clear();
    this.settings = { ...this.settings, terminate_s: [0, 0] };
    await this.empty();
    this.#machines.close();
  }

  #make(account: string, body: LaunchBody): readonly CloudInstance[] {
    const type = machineType(this.catalog, body.machine_type);
    const { market = 'on-demand', zone, count = 1, min_count = 1 } = body;
    if (count > mostAtOnce || min_count > count)
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

    const existing = this.#instances.filter((instance) => instance.exists);
    const allowed = allowedCount(this.settings.quotas, existing, { account, market, cpus: type.cpus });
    if (allowed.count < min_count) throw cloudErrors.quota(`${allowed.why} does not allow ${count} of ${words}`);
    const zones = zone === undefined ? zonesOf(this.catalog) : [zone];
    const rooms = zones.map((each) => ({
      zone: each,
      room: roomFor(this.settings.capacity, existing, { type: type.name, zone: each, market }),
    }));
    const place = rooms.find(({ room }) => room >= min_count);
    if (place === undefined) throw cloudErrors.noCapacity(`there is no ${words} left`);
    let given = Math.min(count, allowed.count, place.room);
    const partial = given > min_count ? this.faults.take('partial-fill', chance) : undefined;
    if (partial) given = Math.max(min_count, Math.min(partial.count ?? given - 1, given));
    return Array.from({ length: given }, () => this.#add(account, body, place.zone));
  }

  #add(account: string, order: LaunchBody, zone: string): CloudInstance {
    const id = `i-${this.#name}${String(this.#instances.length).padStart(5, '0')}`;
    const { cpus } = machineType(this.catalog, order.machine_type);
    const made = { id, account, order, zone, market: order.market ?? 'on-demand', cpus } as const;
    const instance = new CloudInstance(made, order.tags ?? {}, instant());
    this.#instances.push(instance);
    this.#byId.set(id, instance);
    const delay = (rule: FaultRule | undefined): number | undefined => rule && this.faults.delay(rule);
    const vanish = delay(this.#takes('vanish', instance));
    const preempt = this.#takes('preempt', instance);
    this.#machines.begin(instance, {
      slow: delay(this.#takes('slow-boot', instance)) ?? 0,
      hangs: this.#takes('hang-boot', instance) !== undefined,
      dead: this.#takes('dead-boot', instance) !== undefined,
      sshd: this.#takes('no-ssh', instance) === undefined,
    });
    if (vanish !== undefined) this.#machines.after(vanish, () => this.#machines.vanish(instance));
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
    return { at: instant() - 1000 * Math.max(lag_s, stale ? (stale.seconds ?? 5) : 0), after: 0 };
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
