import { randomBytes } from 'node:crypto';
import { time } from '../names.ts';

/** A project may not have more. */
export class QuotaRefusal extends Error {}

export interface TpuError {
  readonly code: number;
  readonly message: string;
}

/** What the API of TPUs does later. */
export class TpuOperation {
  readonly name: string;
  readonly #about: { readonly target: string; readonly verb: string; readonly at: number };
  readonly #stuck: boolean;
  readonly #now: () => number;
  #endedAt: number | undefined;
  #result: { readonly error: TpuError } | { readonly response: () => object } | undefined;

  constructor(parent: string, about: { target: string; verb: string }, now: () => number, stuck: boolean) {
    this.name = `${parent}/operations/operation-${Math.floor(now())}-${randomBytes(8).toString('hex')}`;
    this.#about = { ...about, at: now() };
    this.#now = now;
    this.#stuck = stuck;
  }

  finish(result: { readonly error: TpuError } | { readonly response: () => object }): void {
    if (this.#stuck || this.#result !== undefined) return;
    this.#endedAt = this.#now();
    this.#result = result;
  }

  shown(version: string): object {
    const { target, verb, at } = this.#about;
    const type = (name: string): string => `type.googleapis.com/google.cloud.tpu.${version}.${name}`;
    const result = this.#result;
    return {
      name: this.name,
      metadata: {
        '@type': type('OperationMetadata'),
        createTime: time(at),
        ...(this.#endedAt !== undefined && { endTime: time(this.#endedAt) }),
        ...{ target, verb, cancelRequested: false, apiVersion: version },
      },
      done: result !== undefined,
      ...(result && 'error' in result && { error: result.error }),
      ...(result && 'response' in result && { response: { '@type': type('Node'), ...result.response() } }),
    };
  }
}
