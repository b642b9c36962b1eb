import type { Market } from './catalog.ts';
import type { Login, Machine } from './ground.ts';
import { instant } from './instant.ts';

export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated';

/** What of an instance changes, as it was from an instant on. */
export interface Snapshot {
  readonly at: number;
  /** `gone`: the cloud itself no longer knows of it. */
  readonly state: InstanceState | 'gone';
  readonly tags: Readonly<Record<string, string>>;
  readonly address?: string;
  readonly preemptionAt?: number;
  /** Why it is not running. */
  readonly reason?: string | undefined;
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
  /** What becomes of it when it switches itself off. @default terminate */
  readonly on_shutdown?: 'terminate' | 'stop';
}

/** An instance as the API shows it. */
export interface ShownInstance {
  readonly id: string;
  readonly client_token?: string;
  readonly machine_type: string;
  readonly zone: string;
  readonly market: Market;
  readonly state: InstanceState;
  readonly launched_at: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly address?: string;
  readonly preemption_at?: string;
  readonly reason?: string;
}

/** One instance, with all that it ever was. */
export class CloudInstance {
  readonly id: string;
  readonly account: string;
  readonly order: LaunchBody;
  readonly zone: string;
  readonly market: Market;
  readonly cpus: number;
  readonly launchedAt: number;
  machine: Machine | undefined;
  /** Aborted when its end is ordered: what waits for its boot need not. */
  readonly ending = new AbortController();
  readonly #history: Snapshot[];
  #work: Promise<void> = Promise.resolve();

  constructor(
    made: Pick<CloudInstance, 'id' | 'account' | 'order' | 'zone' | 'market' | 'cpus'>,
    tags: Readonly<Record<string, string>>,
    at: number,
  ) {
    ({ id: this.id, account: this.account, order: this.order } = made);
    ({ zone: this.zone, market: this.market, cpus: this.cpus } = made);
    this.launchedAt = at;
    this.#history = [{ at, state: 'pending', tags }];
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
  }

  /** As it was; undefined when there was no such instance then. */
  asOf(at: number): Snapshot | undefined {
    const found = this.#history.findLast((snapshot) => snapshot.at <= at);
    return found?.state === 'gone' ? undefined : found;
  }

  /** What is done to its machine is done one after the other. What fails stands in its reason; it goes no further. */
  inTurn(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.change({ reason: error instanceof Error ? error.message : String(error) }, instant());
    });
    return this.#work;
  }

  shown({ state, tags, address, preemptionAt, reason }: Snapshot): ShownInstance {
    return {
      id: this.id,
      ...(this.order.client_token !== undefined && { client_token: this.order.client_token }),
      machine_type: this.order.machine_type,
      zone: this.zone,
      market: this.market,
      state: state === 'gone' ? 'terminated' : state,
      launched_at: new Date(this.launchedAt).toISOString(),
      tags,
      ...(address !== undefined && { address }),
      ...(preemptionAt !== undefined && { preemption_at: new Date(preemptionAt).toISOString() }),
      ...(reason !== undefined && { reason }),
    };
  }
}
