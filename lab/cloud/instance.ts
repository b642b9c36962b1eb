import type { Clock } from '../../src/base/time/clock.ts';
import type { DiskOrder } from './belongings.ts';
import type { Market } from './catalog.ts';
import type { Login, Machine } from './hypervisor.ts';

export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated';

/** Who or what stopped or ended an instance; a `fault` is the cloud's own. */
export type EndCause = 'order' | 'itself' | 'preemption' | 'refusal' | 'fault';

/** What of an instance changes, as it was from an instant on. */
export interface Snapshot {
  readonly at: number;
  /** `gone`: the cloud itself no longer knows of it. */
  readonly state: InstanceState | 'gone';
  readonly tags: Readonly<Record<string, string>>;
  readonly address?: string;
  /** Where it is reached from elsewhere. */
  readonly outside?: string | undefined;
  readonly preemptionAt?: number | undefined;
  /** From when on it was more likely than others to be taken back. */
  readonly rebalanceAt?: number;
  /** It was accepted and ended before it ran: what was missing. */
  readonly refused?: { readonly code: string; readonly message: string };
  /** Why it is not running. */
  readonly reason?: string | undefined;
  readonly cause?: EndCause | undefined;
}

export interface LaunchBody {
  readonly client_token?: string;
  readonly machine_type: string;
  readonly zone?: string;
  readonly market?: Market;
  readonly count?: number;
  readonly min_count?: number;
  readonly tags?: Readonly<Record<string, string>>;
  readonly login?: Login;
  readonly user_data?: string;
  /** `count` counts slices of so many hosts: each is given whole or not at all, and its hosts end together. */
  readonly slice?: { readonly hosts: number };
  /** What becomes of it when it switches itself off; `stay`: nobody takes notice. @default terminate */
  readonly on_shutdown?: 'terminate' | 'stop' | 'stay';
}

/** What a dialect may ask for beyond that. */
export interface LaunchOrder extends LaunchBody {
  /** What the dialect calls each of them, in turn. */
  readonly names?: readonly string[];
  /** What becomes of it when it is preempted. @default terminate */
  readonly on_preemption?: 'terminate' | 'stop';
  /** Where no zone is named. */
  readonly region?: string;
  /** Of the market `reserved`. */
  readonly reservation?: string;
  readonly disks?: readonly DiskOrder[];
  /** It gets an address that is reached from elsewhere. */
  readonly outside?: boolean;
}

/** One host of a slice. */
export interface CloudSlice {
  readonly id: string;
  readonly index: number;
  readonly of: number;
}

/** An instance as the API shows it. */
export interface ShownInstance {
  readonly id: string;
  /** In dialects where instances are called something. */
  readonly name?: string;
  readonly client_token?: string;
  readonly machine_type: string;
  readonly zone: string;
  readonly market: Market;
  readonly state: InstanceState;
  readonly launched_at: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly address?: string;
  readonly outside?: string;
  readonly preemption_at?: string;
  readonly rebalance_at?: string;
  readonly refused?: { readonly code: string; readonly message: string };
  readonly slice?: CloudSlice;
  readonly reason?: string;
}

/** One instance, with all that it ever was. */
export class CloudInstance {
  readonly id: string;
  readonly name: string | undefined;
  readonly account: string;
  readonly order: LaunchOrder;
  readonly zone: string;
  readonly market: Market;
  readonly cpus: number;
  readonly slice: CloudSlice | undefined;
  readonly launchedAt: number;
  /** When it was asked to run last: at its launch, or when it was started after a stop. */
  startedAt: number;
  machine: Machine | undefined;
  /** Aborted when its end is ordered: what waits for its boot need not. */
  readonly ending = new AbortController();
  readonly #clock: Clock;
  readonly #history: Snapshot[];
  readonly #changed: (instance: CloudInstance) => void;
  #work: Promise<void> = Promise.resolve();

  constructor(
    made: Pick<CloudInstance, 'id' | 'name' | 'account' | 'order' | 'zone' | 'market' | 'cpus' | 'slice'>,
    tags: Readonly<Record<string, string>>,
    clock: Clock,
    changed: (instance: CloudInstance) => void = () => {},
  ) {
    this.#clock = clock;
    this.#changed = changed;
    ({ id: this.id, name: this.name, account: this.account, order: this.order } = made);
    ({ zone: this.zone, market: this.market, cpus: this.cpus, slice: this.slice } = made);
    this.launchedAt = clock.now();
    this.startedAt = this.launchedAt;
    this.#history = [{ at: this.launchedAt, state: 'pending', tags }];
  }

  get now(): Snapshot {
    return this.#history.at(-1) as Snapshot;
  }

  /** It still takes room and costs money. */
  get exists(): boolean {
    return this.now.state !== 'terminated' && this.now.state !== 'gone';
  }

  change(change: Partial<Omit<Snapshot, 'at'>>, at: number): void {
    this.#history.push({ ...this.now, ...change, at });
    this.#changed(this);
  }

  /** As it was; undefined when there was no such instance then. */
  asOf(at: number): Snapshot | undefined {
    const found = this.#history.findLast((snapshot) => snapshot.at <= at);
    return found?.state === 'gone' ? undefined : found;
  }

  /** What is done to its machine is done one after the other. What fails stands in its reason; it goes no further. */
  inTurn(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.change({ reason: error instanceof Error ? error.message : String(error) }, this.#clock.now());
    });
    return this.#work;
  }

  shown({ state, tags, address, outside, preemptionAt, rebalanceAt, refused, reason }: Snapshot): ShownInstance {
    return {
      id: this.id,
      ...(this.name !== undefined && { name: this.name }),
      ...(this.order.client_token !== undefined && { client_token: this.order.client_token }),
      machine_type: this.order.machine_type,
      zone: this.zone,
      market: this.market,
      state: state === 'gone' ? 'terminated' : state,
      launched_at: new Date(this.startedAt).toISOString(),
      tags,
      ...(address !== undefined && { address }),
      ...(outside !== undefined && { outside }),
      ...(preemptionAt !== undefined && { preemption_at: new Date(preemptionAt).toISOString() }),
      ...(rebalanceAt !== undefined && { rebalance_at: new Date(rebalanceAt).toISOString() }),
      ...(refused !== undefined && { refused }),
      ...(this.slice !== undefined && { slice: this.slice }),
      ...(reason !== undefined && { reason }),
    };
  }
}
