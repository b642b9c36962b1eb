import { exchange } from '../../src/providers/lab-cloud/exchange.ts';
import type { Belonging } from './belongings.ts';
import type { CallRecord } from './call-log.ts';
import type { Cloud } from './cloud.ts';
import type { FaultRule } from './faults.ts';
import type { LaunchBody, ShownInstance } from './instance.ts';
import type { SettingsPatch } from './settings.ts';

/** The admin endpoint of a lab cloud, from this machine or from a host of the lab. */
export class CloudAdmin {
  readonly #endpoint: string;
  readonly #token: string;

  constructor(endpoint: string, token: string) {
    this.#endpoint = endpoint;
    this.#token = token;
  }

  async set(settings: SettingsPatch): Promise<void> {
    await this.#ask('PATCH', 'settings', settings);
  }

  /** These rules beside those that are in force. */
  async fault(...rules: readonly FaultRule[]): Promise<void> {
    await this.#ask('POST', 'faults', rules);
  }

  async faults(): Promise<readonly (FaultRule & { readonly happened: number })[]> {
    return (await this.#ask<{ faults: (FaultRule & { happened: number })[] }>('GET', 'faults')).faults;
  }

  /** Nothing goes wrong any more, and all settings are as at first. What exists stays. */
  async calm(): Promise<void> {
    await this.#ask('DELETE', 'faults');
    await this.#ask('DELETE', 'settings');
  }

  /** Everything that ever was, as it is at this moment. */
  async instances(): Promise<readonly (ShownInstance & { readonly account: string; readonly exists: boolean })[]> {
    return (
      await this.#ask<{ instances: (ShownInstance & { account: string; exists: boolean })[] }>('GET', 'instances')
    ).instances;
  }

  /** An instance that nobody called for. */
  async stray(account: string, launch: LaunchBody): Promise<readonly ShownInstance[]> {
    return (await this.#ask<{ instances: ShownInstance[] }>('POST', 'instances', { account, launch })).instances;
  }

  async preempt(id: string, notice_s = 0): Promise<void> {
    await this.#ask('POST', `instances/${encodeURIComponent(id)}/preempt`, { notice_s });
  }

  async rebalance(id: string): Promise<void> {
    await this.#ask('POST', `instances/${encodeURIComponent(id)}/rebalance`);
  }

  /** What accounts have beside instances, with the kind of each. */
  async belongings(account?: string): Promise<readonly (Belonging & { readonly kind: string })[]> {
    const query = account === undefined ? '' : `?account=${encodeURIComponent(account)}`;
    return (await this.#ask<{ belongings: (Belonging & { kind: string })[] }>('GET', `belongings${query}`)).belongings;
  }

  /** What each thing costs in an hour. */
  async costs(account?: string): Promise<ReturnType<Cloud['costs']>> {
    const query = account === undefined ? '' : `?account=${encodeURIComponent(account)}`;
    return (await this.#ask<{ costs: ReturnType<Cloud['costs']> }>('GET', `costs${query}`)).costs;
  }

  async vanish(id: string): Promise<void> {
    await this.#ask('POST', `instances/${encodeURIComponent(id)}/vanish`);
  }

  /** Ends all instances, of one account or of all, and waits until they are gone. */
  async empty(account?: string): Promise<void> {
    await this.#ask('DELETE', account === undefined ? 'instances' : `instances?account=${encodeURIComponent(account)}`);
  }

  /** Calls of the API in the order in which they were over. */
  async calls(only: { readonly since?: number; readonly call?: string } = {}): Promise<readonly CallRecord[]> {
    const query = new URLSearchParams({ since: String(only.since ?? 0), ...(only.call && { call: only.call }) });
    return (await this.#ask<{ calls: CallRecord[] }>('GET', `calls?${query.toString()}`)).calls;
  }

  /** A new account; the answer is its token. */
  async open(account: string): Promise<string> {
    return (await this.#ask<{ token: string }>('POST', 'accounts', { name: account })).token;
  }

  async #ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const signal = AbortSignal.timeout(60_000);
    const { status, text } = await exchange(this.#endpoint, {
      method,
      path: `/admin/${path}`,
      body,
      token: this.#token,
      signal,
    });
    if (status !== 200) throw new Error(`${method} /admin/${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }
}
