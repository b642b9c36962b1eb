import { createHash } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { makeFolder, namesIn, readJson, writeJson } from '../../base/files/json-file.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { NodeTypeName } from '../../core/instance.ts';
import type { OwnHost } from '../../core/spec/local.ts';
import type { LaunchRequest, ProviderInstance } from '../provider.ts';
import type { HostFacts } from './claims.ts';

/**
 * One claim, as the provider knows it. Written before anything is done on the host.
 *
 * - `claiming`: the host is being asked; after a crash, whether it was claimed is not known
 * - `held`: an instance
 * - `ending`: its end was ordered; never taken back
 * - `unverified`: the host did not answer for so long that the instance left the list; it is ended there when it does
 */
export interface ClaimRecord {
  readonly format: 1;
  readonly id: string;
  readonly launchToken: string;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly state: 'claiming' | 'held' | 'ending' | 'unverified';
  readonly host: OwnHost;
  readonly launchedAt: Instant;
  readonly endingSince?: Instant;
  readonly tags: Readonly<Record<string, string>>;
}

export interface LaunchRecord {
  readonly request: LaunchRequest;
  readonly at: Instant;
  /** Every instance of it was claimed; those that have no record have ended. */
  readonly made: boolean;
  readonly ids: readonly string[];
}

/**
 * The records of the provider, its only truth beside the hosts themselves: `claims/<id>.json`, `launches/<token>.json`,
 * and what was found on hosts in `hosts/<name>.json`.
 */
export class LocalRecords {
  readonly #folder: string;
  readonly #onBad: (file: string, reason: string) => void;

  constructor(folder: string, onBad: (file: string, reason: string) => void = () => {}) {
    this.#folder = makeFolder(folder);
    this.#onBad = onBad;
    for (const name of ['claims', 'launches', 'hosts']) makeFolder(join(folder, name));
  }

  /** New with each launch, and never the same in another folder. */
  idOf(token: string, host: string): string {
    return `i-${digest(`${this.#folder}\0${token}\0${host}`)}`;
  }

  claims(): readonly ClaimRecord[] {
    return namesIn(join(this.#folder, 'claims')).flatMap((name) => this.claim(name.replace(/\.json$/, '')) ?? []);
  }

  /** A record that cannot be read is put aside: it costs one instance, not the list. */
  claim(id: string): ClaimRecord | undefined {
    const file = this.#claimFile(id);
    if (file === undefined) return undefined;
    try {
      return readJson<ClaimRecord>(file);
    } catch (error) {
      return this.#putAside(file, error);
    }
  }

  write(record: ClaimRecord): void {
    writeJson(join(this.#folder, 'claims', `${record.id}.json`), record);
  }

  remove(id: string): void {
    const file = this.#claimFile(id);
    if (file !== undefined) rmSync(file, { force: true });
  }

  launch(token: string): LaunchRecord | undefined {
    return this.#launchIn(this.#launchFile(token));
  }

  writeLaunch(launch: LaunchRecord): void {
    writeJson(this.#launchFile(launch.request.token), launch);
  }

  removeLaunch(token: string): void {
    rmSync(this.#launchFile(token), { force: true });
  }

  facts(host: string): HostFacts | undefined {
    try {
      return readJson<HostFacts>(this.#hostFile(host));
    } catch {
      return undefined;
    }
  }

  writeFacts(host: string, facts: HostFacts): void {
    writeJson(this.#hostFile(host), { name: host, ...facts });
  }

  /** Tokens are asked for again within minutes; of launches from before `time` nobody asks any more. */
  dropLaunchesBefore(time: Instant): void {
    const alive = new Set(this.claims().map((record) => record.id));
    // A draft that a killed process left is not a record.
    for (const name of namesIn(join(this.#folder, 'launches')).filter((each) => !each.startsWith('.'))) {
      const file = join(this.#folder, 'launches', name);
      const launch = this.#launchIn(file);
      if (launch !== undefined && launch.at < time && !launch.ids.some((id) => alive.has(id))) rmSync(file);
    }
  }

  /** One that cannot be read is put aside too: its claims name its token. */
  #launchIn(file: string): LaunchRecord | undefined {
    try {
      return readJson<LaunchRecord>(file);
    } catch (error) {
      return this.#putAside(file, error);
    }
  }

  #putAside(file: string, error: unknown): undefined {
    const aside = join(makeFolder(join(this.#folder, 'bad')), basename(file));
    renameSync(file, aside);
    this.#onBad(aside, messageOf(error));
  }

  /** Undefined for what is not an id: ids come from outside and must not lead elsewhere. */
  #claimFile(id: string): string | undefined {
    return /^[a-z][\w-]*$/.test(id) ? join(this.#folder, 'claims', `${id}.json`) : undefined;
  }

  #launchFile(token: string): string {
    return join(this.#folder, 'launches', `${digest(token)}.json`);
  }

  #hostFile(host: string): string {
    return join(this.#folder, 'hosts', `${digest(host)}.json`);
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The cluster has it, or may have it. */
export const isShown = ({ state }: ClaimRecord): boolean => state !== 'unverified';

export const instanceOf = (record: ClaimRecord): ProviderInstance => ({
  id: record.id,
  launchToken: record.launchToken,
  type: record.type,
  kind: record.kind,
  state: ({ claiming: 'pending', held: 'running', ending: 'stopping', unverified: 'stopping' } as const)[record.state],
  launchedAt: record.launchedAt,
  tags: record.tags,
  address: { inside: record.host.address },
});
