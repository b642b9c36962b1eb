import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../../base/files/durable.ts';
import { createJson, makeFolder, namesIn, readJson, writeJson } from '../../base/files/json-file.ts';
import { isAlive } from '../../base/process.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import type { Labels, Resources } from '../../core/resources.ts';
import { providerErrors } from '../errors.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../provider.ts';
import { endInstance } from './ending.ts';
import type { FaultRule } from './faults.ts';
import { FaultPlan, refusal } from './faults.ts';
import type { ProcessRecord } from './record.ts';
import { endingFile, readProcess, readRecord, recordFile } from './record.ts';

export interface ProcessProviderOptions {
  /** Where the instances' folders are; the provider's only truth. */
  readonly folder: string;
  /** Program and arguments of an agent; the instance's folder is added as the last argument. */
  readonly agent: readonly [string, ...string[]];
  /** What a node of a type offers; asked at each launch, so that a changed cluster file counts at once. */
  readonly typeOf: (name: string) => { readonly resources: Resources; readonly labels: Labels } | undefined;
  readonly clock: Clock;
  readonly faults?: readonly FaultRule[];
  /** @default 5 minutes */
  readonly lease?: Duration;
  /** How long an agent may take to end its work before it is killed. @default 10 seconds */
  readonly endGrace?: Duration;
}

/** Tag that says what an instance is for; Ray's own name for it. */
export const kindTag = 'ray-node-kind';

const week = 7 * 24 * 3600 * 1000;

interface LaunchRecord {
  readonly request: LaunchRequest;
  readonly ids: readonly string[];
  readonly faults: FaultRule;
  readonly at: number;
  /** Every instance of it was made; those that are not there have ended. */
  readonly made: boolean;
}

/**
 * Instances that are processes of this machine. Every step is on disk before it is done: a launch is written down before
 * a folder is made, a folder is whole before a process is started, an end is ordered in the folder before it begins. A
 * provider created again on the same folder goes on where the last one was killed.
 */
export class ProcessProvider implements Provider {
  readonly #options: ProcessProviderOptions;
  readonly #folder: string;
  readonly #launches: string;
  readonly #faults: FaultPlan;
  readonly #started = new Map<string, ChildProcess>();
  readonly #endings = new Map<string, Promise<void>>();

  constructor(options: ProcessProviderOptions) {
    this.#options = options;
    this.#folder = realpathSync(makeFolder(options.folder));
    this.#launches = makeFolder(join(this.#folder, '.launches'));
    this.#faults = new FaultPlan(options.faults ?? []);
    this.#dropOldLaunches();
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    return this.#ids().flatMap((id) => this.#look(id) ?? []);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const known = readJson<LaunchRecord>(this.#launchFile(request.token));
    const launch = known ?? this.#admit(request);
    if (!launch.made) {
      for (const id of launch.ids) this.#make(launch, id);
      writeJson(this.#launchFile(request.token), { ...launch, made: true });
    }
    if (!known && launch.faults.loseAnswer)
      throw providerErrors.Unreachable({ call: 'launch', detail: 'fault knob: the response is lost' });
    return launch.ids.flatMap((id) => this.#look(id) ?? []);
  }

  async terminate(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    for (const id of ids) {
      const folder = this.#folderOf(id);
      if (folder === undefined) continue;
      createJson(endingFile(folder), { at: this.#options.clock.now() });
      this.#end(id);
    }
  }

  async tag(id: string, tags: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const folder = this.#folderOf(id);
    const record = folder === undefined ? undefined : readRecord(folder);
    if (folder === undefined || record === undefined) throw providerErrors.NotFound({ id });
    writeJson(recordFile(folder), { ...record, tags: { ...record.tags, ...tags } });
  }

  /** Resolves when every end that was begun is done or has failed; a failed one is begun again by the next `list`. */
  async settled(): Promise<void> {
    while (this.#endings.size > 0) await Promise.allSettled(this.#endings.values());
  }

  #ids(): string[] {
    return namesIn(this.#folder).filter((name) => !name.startsWith('.'));
  }

  /** Undefined for what is not an instance's folder; ids come from outside and must not lead elsewhere. */
  #folderOf(id: string): string | undefined {
    return /^i-[0-9a-f]+-\d+$/.test(id) && existsSync(join(this.#folder, id)) ? join(this.#folder, id) : undefined;
  }

  #launchFile(token: string): string {
    return join(this.#launches, `${this.#hash(token)}.json`);
  }

  /** Names differ between folders, because marks of processes are searched in the whole machine. */
  #hash(token: string): string {
    return createHash('sha256').update(`${this.#folder}\0${token}`).digest('hex').slice(0, 12);
  }

  #admit(request: LaunchRequest): LaunchRecord {
    if (!this.#options.typeOf(request.type))
      throw providerErrors.Denied({ call: 'launch', detail: `there is no node type '${request.type}'` });
    const faults = this.#faults.take(request);
    if (faults.refuse) throw refusal(faults.refuse, request);
    const count = Math.min(request.count, this.#left(request.type, faults.capacity));
    if (count <= 0) throw refusal('no-capacity', request);
    const ids = Array.from({ length: count }, (_, index) => `i-${this.#hash(request.token)}-${index}`);
    const launch = { request, ids, faults, at: this.#options.clock.now(), made: false };
    writeJson(this.#launchFile(request.token), launch);
    return launch;
  }

  #left(type: string, capacity: number | undefined): number {
    if (capacity === undefined) return Infinity;
    return capacity - this.#ids().filter((id) => this.#record(id)?.type === type).length;
  }

  /** What an earlier call of the same launch made, or what has ended since, stays as it is. */
  #make(launch: LaunchRecord, id: string): void {
    const folder = join(this.#folder, id);
    if (existsSync(folder) || existsSync(join(this.#folder, '.ended', id))) return;
    const { request, faults } = launch;
    const type = this.#options.typeOf(request.type);
    const resources = type?.resources ?? {};
    const record: ProcessRecord = {
      format: 1,
      id,
      launchToken: request.token,
      type: request.type,
      kind: request.tags[kindTag] === 'head' ? 'head' : 'worker',
      ...(request.zone === undefined ? {} : { zone: request.zone }),
      market: request.market,
      launchedAt: launch.at,
      tags: request.tags,
      resources,
      labels: type?.labels ?? {},
      devices: this.#freeDevices(Math.ceil(resources.GPU ?? 0)),
      lease: this.#options.lease ?? 300_000,
      faults,
    };
    const draft = join(this.#folder, `.new-${id}`);
    rmSync(draft, { recursive: true, force: true });
    writeJson(recordFile(makeFolder(draft)), record);
    renameSync(draft, folder);
    syncFolder(this.#folder);
    this.#start(id);
  }

  #freeDevices(count: number): number[] {
    const taken = new Set(this.#ids().flatMap((id) => this.#record(id)?.devices ?? []));
    const free: number[] = [];
    for (let device = 0; free.length < count; device++) if (!taken.has(device)) free.push(device);
    return free;
  }

  #start(id: string): void {
    const folder = join(this.#folder, id);
    const log = openSync(join(folder, 'agent.log'), 'a', 0o600);
    const [program, ...args] = this.#options.agent;
    const child = spawn(program, [...args, folder], { cwd: folder, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    child.on('error', () => {});
    child.unref();
    this.#started.set(id, child);
  }

  /** One instance as it stands; sets right what a crash, or its own death, left behind. */
  #look(id: string): ProviderInstance | undefined {
    const folder = join(this.#folder, id);
    if (!existsSync(folder)) return undefined;
    const record = this.#record(id);
    if (!record) {
      this.#end(id);
      return undefined;
    }
    const agent = readProcess(folder);
    const child = this.#started.get(id);
    const gone = agent ? !isAlive(agent) : child !== undefined && (child.exitCode ?? child.signalCode) !== null;
    const ending = existsSync(endingFile(folder));
    if (gone || ending) this.#end(id);
    else if (!agent && !child) this.#start(id);
    return {
      id,
      launchToken: record.launchToken,
      type: record.type,
      kind: record.kind,
      state: gone || ending ? 'stopping' : agent ? 'running' : 'pending',
      ...(record.zone === undefined ? {} : { zone: record.zone }),
      market: record.market,
      launchedAt: record.launchedAt,
      tags: record.tags,
      ...this.#notice(record),
    };
  }

  /** Undefined when it cannot be read: such an instance is ended, as nobody could say what it is. */
  #record(id: string): ProcessRecord | undefined {
    try {
      return readRecord(join(this.#folder, id));
    } catch {
      return undefined;
    }
  }

  #notice({ faults, launchedAt }: ProcessRecord): { preemptionAt?: number } {
    if (faults.preemptAfter === undefined) return {};
    const preemptionAt = launchedAt + faults.preemptAfter;
    return this.#options.clock.now() >= preemptionAt - (faults.preemptNotice ?? 0) ? { preemptionAt } : {};
  }

  #end(id: string): void {
    if (this.#endings.has(id)) return;
    const child = this.#started.get(id);
    const ending = endInstance(this.#folder, id, this.#options.endGrace ?? 10_000)
      .then(() => void this.#started.delete(id))
      // The order stays in the folder: the next `list` shows the instance and tries again.
      .catch(() => {})
      .finally(() => this.#endings.delete(id));
    // An agent that has not signed in yet has nothing to clean up.
    if (child && child.exitCode === null && !readProcess(join(this.#folder, id))) child.kill('SIGKILL');
    this.#endings.set(id, ending);
  }

  #dropOldLaunches(): void {
    // A draft that a killed process left is not a record.
    for (const name of namesIn(this.#launches).filter((each) => !each.startsWith('.'))) {
      const file = join(this.#launches, name);
      const launch = readJson<LaunchRecord>(file);
      const gone = launch?.ids.every((id) => !existsSync(join(this.#folder, id))) ?? true;
      if (gone && (launch?.at ?? 0) < this.#options.clock.now() - week) rmSync(file);
    }
  }
}
