import type { Instant } from '../../base/time/clock.ts';
import type { Market } from '../../core/instance.ts';

/** An instance as the cloud's API shows it. */
export interface CloudInstance {
  readonly id: string;
  readonly client_token?: string;
  readonly machine_type: string;
  readonly zone: string;
  readonly market: Market;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'terminating' | 'terminated';
  readonly launched_at: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly address?: string;
  readonly outside?: string;
  readonly preemption_at?: string;
  readonly refused?: { readonly code: string; readonly message: string };
  readonly slice?: { readonly id: string; readonly index: number; readonly of: number };
  readonly reason?: string;
}

export interface CloudPage {
  readonly instances: readonly CloudInstance[];
  readonly next_page?: string;
}

export interface MachineType {
  readonly name: string;
  readonly cpus: number;
  readonly memory_gib: number;
  readonly gpus?: number;
}

export interface Price {
  readonly type: string;
  readonly zone: string;
  readonly market: Market;
  /** Per hour, in dollars. */
  readonly price: number;
}

/** What a part of a list is not: an answer that the cloud would never give must not pass for one with nothing in it. */
export function pageProblem(body: unknown): string | undefined {
  if (!isObject(body) || !Array.isArray(body['instances'])) return 'the response has no instances';
  const bad = body['instances'].find((each) => !isInstance(each));
  if (bad !== undefined) return `the response has an invalid instance: ${JSON.stringify(bad).slice(0, 200)}`;
  if (body['next_page'] !== undefined && typeof body['next_page'] !== 'string')
    return 'the next page token is not a string';
  return undefined;
}

const states = new Set(['pending', 'running', 'stopping', 'stopped', 'terminating', 'terminated']);

const isInstance = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  states.has(value['state'] as string) &&
  isObject(value['tags']) &&
  Number.isFinite(instantOf(value['launched_at']));

export const instantOf = (value: unknown): Instant => (typeof value === 'string' ? Date.parse(value) : Number.NaN);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
