/** Queued resources: requests for slices that wait until there is room for all of them. */
import type { Belonging } from '../../cloud/belongings.ts';
import type { QueuedBody } from '../shapes.ts';
import type { GoogleWorld } from '../world.ts';
import { QuotaRefusal, type TpuError } from './operation.ts';
import type { SliceOrder, TpuWorld } from './world.ts';

export type QueuedState =
  | 'ACCEPTED'
  | 'WAITING_FOR_RESOURCES'
  | 'PROVISIONING'
  | 'ACTIVE'
  | 'SUSPENDED'
  | 'FAILED'
  | 'DELETING';

export interface QueuedResource extends Belonging {
  readonly name: string;
  readonly zone: string;
  readonly body: QueuedBody;
  readonly orders: readonly SliceOrder[];
  readonly until: number | undefined;
  state: QueuedState;
  error?: TpuError;
}

export class Queue {
  readonly #world: GoogleWorld;
  readonly #tpu: TpuWorld;
  #busy = false;

  constructor(world: GoogleWorld, tpu: TpuWorld) {
    this.#world = world;
    this.#tpu = tpu;
  }

  add(made: QueuedResource): void {
    this.#world.store<QueuedResource>('queued-resource').add(made);
  }

  get(name: string): QueuedResource | undefined {
    return this.all().find((each) => each.name === name);
  }

  all(): readonly QueuedResource[] {
    return this.#world.cloud.has.others.has('queued-resource')
      ? this.#world.store<QueuedResource>('queued-resource').all()
      : [];
  }

  remove({ id }: QueuedResource): void {
    this.#world.store('queued-resource').delete(id);
  }

  /** Names of the slices that a request is for, as far as they exist. */
  nodesOf({ orders }: QueuedResource): readonly string[] {
    return orders
      .map(({ project, zone, id }) => `projects/${project.id}/locations/${zone}/nodes/${id}`)
      .filter((name) => this.#tpu.slices.has(name));
  }

  /** Takes every request as far as it can go now: whenever something has changed, and whenever somebody asks. */
  tick(): void {
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (const each of this.all()) this.#advance(each);
    } finally {
      this.#busy = false;
    }
  }

  #advance(queued: QueuedResource): void {
    const states = this.nodesOf(queued).map((name) => this.#tpu.stateOf(this.#tpu.slices.get(name)!));
    switch (queued.state) {
      case 'ACCEPTED':
      case 'WAITING_FOR_RESOURCES':
        if (queued.until !== undefined && queued.until <= this.#world.now())
          this.#fail(queued, { code: 4, message: 'The request was not fulfilled before its deadline.' });
        else this.#provision(queued);
        break;
      case 'PROVISIONING':
      case 'ACTIVE':
        if (
          states.length < queued.orders.length ||
          states.some((state) => /PREEMPTED|TERMINATED|DELETING/.test(state ?? ''))
        )
          queued.state = 'SUSPENDED';
        else if (states.every((state) => state === 'READY')) queued.state = 'ACTIVE';
        break;
      case 'SUSPENDED':
      case 'FAILED':
      case 'DELETING':
        break;
    }
  }

  #provision(queued: QueuedResource): void {
    try {
      const made = this.#tpu.make(queued.orders);
      queued.state = 'error' in made ? 'WAITING_FOR_RESOURCES' : 'PROVISIONING';
    } catch (error) {
      if (!(error instanceof QuotaRefusal)) throw error;
      this.#fail(queued, { code: 8, message: error.message });
    }
  }

  #fail(queued: QueuedResource, error: TpuError): void {
    queued.state = 'FAILED';
    queued.error = error;
  }
}
