/** What Google does later: every change of Compute Engine is an operation, which ends some time after it was answered. */
import { randomBytes } from 'node:crypto';
import { numberOf } from './names.ts';

/** Why an operation failed, in the words of Compute Engine. */
export interface OperationError {
  readonly code: string;
  readonly message: string;
  readonly errorDetails?: readonly object[];
}

export interface BulkStatus {
  status: 'CREATING' | 'ROLLING_BACK' | 'DONE';
  readonly targetVmCount: number;
  createdVmCount: number;
  failedToCreateVmCount: number;
  deletedVmCount: number;
}

export interface OperationOrder {
  /** `insert`, `delete`, `setLabels`. */
  readonly type: string;
  readonly project: string;
  /** `zones/us-west1-a`, `regions/us-west1` or `global`. */
  readonly scope: string;
  /** What it changes, from the project on. */
  readonly target: string;
  readonly targetId?: string;
  readonly user: string;
  readonly group?: string | undefined;
  /** Of a bulk insert: how it stands, by zone. */
  readonly bulk?: ReadonlyMap<string, BulkStatus>;
}

/** Statuses of HTTP that go with the codes of operations. */
const statuses: Readonly<Record<string, readonly [number, string]>> = {
  ZONE_RESOURCE_POOL_EXHAUSTED: [503, 'SERVICE UNAVAILABLE'],
  ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: [503, 'SERVICE UNAVAILABLE'],
  STOCKOUT: [503, 'SERVICE UNAVAILABLE'],
  QUOTA_EXCEEDED: [403, 'FORBIDDEN'],
  RESOURCE_OPERATION_RATE_EXCEEDED: [403, 'FORBIDDEN'],
  PERMISSIONS_ERROR: [403, 'FORBIDDEN'],
  CONDITION_NOT_MET: [412, 'PRECONDITION FAILED'],
  RESOURCE_NOT_FOUND: [404, 'NOT FOUND'],
  RESOURCE_ALREADY_EXISTS: [409, 'CONFLICT'],
  INTERNAL_ERROR: [500, 'INTERNAL SERVER ERROR'],
};

export const statusOf = (code: string): readonly [number, string] =>
  Object.hasOwn(statuses, code) ? statuses[code]! : [400, 'BAD REQUEST'];

export class ComputeOperation {
  readonly order: OperationOrder;
  readonly name: string;
  readonly id: string;
  readonly insertedAt: number;
  readonly #now: () => number;
  readonly #stuck: boolean;
  #endedAt: number | undefined;
  #error: OperationError | undefined;
  readonly #waiters = new Set<() => void>();

  constructor(order: OperationOrder, now: () => number, stuck: boolean) {
    this.order = order;
    this.#now = now;
    this.#stuck = stuck;
    this.insertedAt = now();
    this.name = `operation-${Math.floor(this.insertedAt)}-${randomBytes(6).toString('hex')}-${randomBytes(4).toString('hex')}`;
    this.id = numberOf(this.name);
  }

  get done(): boolean {
    return this.#endedAt !== undefined;
  }

  get error(): OperationError | undefined {
    return this.#error;
  }

  /** Only the first end counts; one that is stuck never comes to it. */
  finish(error?: OperationError): void {
    if (this.#stuck || this.done) return;
    this.#endedAt = this.#now();
    this.#error = error;
    for (const wake of this.#waiters) wake();
  }

  /** Resolves when it has ended, or when the signal says that nobody need wait any longer. */
  async ended(signal: AbortSignal): Promise<void> {
    if (this.done || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  shown(): object {
    const { type, project, scope, target, targetId, user, group, bulk } = this.order;
    const link = `https://www.googleapis.com/compute/v1/projects/${project}`;
    const [kind, place] = scope.split('/');
    const [status, words] = statusOf(this.#error?.code ?? '');
    return {
      kind: 'compute#operation',
      id: this.id,
      name: this.name,
      ...(kind !== 'global' && { [kind === 'zones' ? 'zone' : 'region']: `${link}/${kind}/${place}` }),
      operationType: type,
      targetLink: `${link}/${target}`,
      ...(targetId !== undefined && { targetId }),
      status: this.done ? 'DONE' : 'RUNNING',
      user,
      progress: this.done ? 100 : 0,
      insertTime: new Date(this.insertedAt).toISOString(),
      startTime: new Date(this.insertedAt).toISOString(),
      ...(this.#endedAt !== undefined && { endTime: new Date(this.#endedAt).toISOString() }),
      ...(group !== undefined && { operationGroupId: group }),
      ...(this.#error && { error: { errors: [this.#error] }, httpErrorStatusCode: status, httpErrorMessage: words }),
      ...(bulk && {
        instancesBulkInsertOperationMetadata: { perLocationStatus: Object.fromEntries(structuredClone(bulk)) },
      }),
      selfLink: `${link}/${scope}/operations/${this.name}`,
    };
  }
}

/** Operations of one project, and which request made which. */
export class Operations {
  readonly #now: () => number;
  readonly #all = new Map<string, ComputeOperation>();
  readonly #requests = new Map<string, ComputeOperation>();

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(order: OperationOrder, stuck = false): ComputeOperation {
    const operation = new ComputeOperation(order, this.#now, stuck);
    this.#all.set(operation.name, operation);
    return operation;
  }

  /** By its name, or by its number. */
  get(scope: string, name: string): ComputeOperation | undefined {
    const found = this.#all.get(name) ?? [...this.#all.values()].find(({ id }) => id === name);
    return found?.order.scope === scope ? found : undefined;
  }

  /** The newest first. */
  of(scope: string): readonly ComputeOperation[] {
    return [...this.#all.values()].filter(({ order }) => order.scope === scope).reverse();
  }

  /** The same request again is answered with the operation that it made. */
  once(request: string | undefined, make: () => ComputeOperation): ComputeOperation {
    if (request === undefined) return make();
    const known = this.#requests.get(request);
    if (known !== undefined) return known;
    const made = make();
    this.#requests.set(request, made);
    return made;
  }
}
