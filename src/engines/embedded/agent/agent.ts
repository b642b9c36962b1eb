import { rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { makeFolder, writeLiveJson } from '../../../base/files/json-file.ts';
import type { ProcessIdentity } from '../../../base/process.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { EndCause } from '../../../core/jobs/job.ts';
import { DeviceBook, fits, minus, plus } from '../../../core/placement/booking.ts';
import type { Resources } from '../../../core/resources.ts';
import type { ProcessRecord } from '../../../providers/process/record.ts';
import type { AttemptOrder, AttemptReport } from '../../runner.ts';
import { AttemptFiles } from '../attempt-files.ts';
import { Channel } from '../channel.ts';
import { embeddedErrors } from '../errors.ts';
import { engineNames } from '../names.ts';
import { nodeId, socketPath } from '../paths.ts';
import type { AgentCalls, AgentRecord, CallName, DrainReason, GangMember, Hello, Superseded } from '../protocol.ts';
import { protocolVersion } from '../protocol.ts';
import type { AttemptHost } from './attempt.ts';
import { RunningAttempt } from './attempt.ts';
import { pruneEnvironments } from './environment-cache.ts';
import { Lease } from './lease.ts';
import { Lifeline } from './lifeline.ts';
import { MemoryWatch } from './memory-watch.ts';
import { PipePool } from './pipes.ts';
import { ProcessScan } from './process-scan.ts';

export interface AgentOptions {
  readonly record: ProcessRecord;
  readonly identity: ProcessIdentity;
  readonly instanceFolder: string;
  readonly engineFolder: string;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What attempts get after SIGTERM when their node ends. */
const endGrace = 5_000;
/** What the process gets to end by itself once its work has. */
const lastGrace = 2_000;
const noDevice = 'no GPU has enough free capacity';
/** A gang's entrypoint may run on a node where others of its bundles are kept: they are booked apart. */
const keptName = (attempt: string): string => `kept ${attempt}`;

/**
 * One node: books its resources, runs attempts, and outlives mantad. It ends when it is told to, or when nobody has
 * renewed its lease; then it ends its attempts first. When it is killed, its lifeline ends them.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #node: string;
  readonly #host: AttemptHost;
  readonly #devices: DeviceBook;
  readonly #memory = new MemoryWatch();
  readonly #attempts = new Map<string, { readonly run: RunningAttempt; readonly resources: Resources }>();
  /** Ended before this agent was asked; kept to answer with until it is forgotten. */
  readonly #past = new Map<string, AttemptReport>();
  readonly #kept = new Map<string, Resources>();
  /** With the epoch of the head at the other end; 0 before it has greeted. */
  readonly #channels = new Map<Channel, number>();
  readonly #server: Server;
  readonly #lease: Lease;
  readonly #record: AgentRecord;
  #draining: DrainReason | undefined;
  #epoch = 0;
  #idleSince = performance.now();
  #ending: Promise<void> | undefined;
  #ended = false;

  constructor(options: AgentOptions) {
    const { record, engineFolder } = options;
    this.#options = options;
    this.#node = nodeId(record.id);
    this.#devices = new DeviceBook(record.devices);
    this.#host = {
      instance: record.id,
      node: this.#node,
      files: new AttemptFiles(engineFolder),
      environments: join(engineFolder, engineNames.environments),
      pipes: new PipePool(options.instanceFolder),
      lifeline: new Lifeline(record.id, options.env),
      scan: new ProcessScan(),
      clock: options.clock,
      env: options.env,
      changed: (attempt) => this.#changed(attempt),
    };
    this.#server = createServer((socket) => {
      if (this.#ended) return void socket.destroy();
      const channel = new Channel(socket, record.id, {
        answer: (call, args) => this.#answer(channel, call, args),
        close: () => this.#channels.delete(channel),
      });
      this.#channels.set(channel, 0);
    });
    this.#record = {
      ...options.identity,
      protocol: protocolVersion,
      instance: record.id,
      node: this.#node,
      socket: socketPath(engineFolder, record.id),
    };
    this.#lease = new Lease(record.lease, () => void this.end('the lease of its node expired'));
  }

  /** Opens the socket, then signs in: who finds the record can connect. */
  async listen(): Promise<void> {
    const { socket } = this.#record;
    makeFolder(dirname(socket));
    rmSync(socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      const mask = process.umask(0o177);
      this.#server.listen(socket, resolve);
      process.umask(mask);
    });
    if (this.#ending) return;
    writeLiveJson(this.#recordFile, this.#record);
    // What is left over is in nobody's way: it goes another time where it cannot go now.
    pruneEnvironments(this.#host.environments, this.#options.clock.now()).catch(() => {});
  }

  /** Ends the attempts, then everything that keeps this process alive. */
  end(because: string): Promise<void> {
    this.#ending ??= this.#end(because);
    return this.#ending;
  }

  async #end(because: string): Promise<void> {
    const cause: EndCause = this.#draining?.kind === 'preemption' ? 'preempted' : 'node-lost';
    for (const { run } of this.#attempts.values()) run.stop(endGrace, cause, because);
    await Promise.all([...this.#attempts.values()].map(({ run }) => run.over));
    this.#ended = true;
    rmSync(this.#recordFile, { force: true });
    this.#lease.end();
    this.#host.lifeline.end();
    this.#host.pipes.close();
    this.#server.close();
    for (const channel of this.#channels.keys()) channel.end();
    // Nothing is left to do. Should something still keep the process alive, it must not keep the node.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), lastGrace).unref();
  }

  get #recordFile(): string {
    return join(makeFolder(join(this.#options.engineFolder, engineNames.agents)), `${this.#record.instance}.json`);
  }

  get #available(): Resources {
    const booked = [...this.#attempts.values()]
      .filter(({ run }) => run.report.state !== 'ended')
      .map((each) => each.resources);
    return minus(this.#options.record.resources, plus(...booked, ...this.#kept.values()));
  }

  get #busy(): boolean {
    return this.#kept.size > 0 || [...this.#attempts.values()].some(({ run }) => run.report.state !== 'ended');
  }

  /** From the greeting of a head on, nothing of an older one is heard, not even what it had sent before. */
  #greet(channel: Channel, epoch: number): Hello | Superseded {
    if (epoch < this.#epoch) return { superseded: true };
    this.#epoch = epoch;
    this.#channels.set(channel, epoch);
    for (const [other, its] of this.#channels) if (its > 0 && its < epoch) other.close();
    return this.#hello();
  }

  #answer<Name extends CallName>(channel: Channel, call: Name, args: AgentCalls[Name]['args']) {
    if (call !== 'hello' && this.#channels.get(channel) !== this.#epoch)
      throw embeddedErrors.Protocol({ problem: `'${call}' before a greeting, or after that of a newer head` });
    const calls: { [Name in keyof AgentCalls]: (args: AgentCalls[Name]['args']) => AgentCalls[Name]['answer'] } = {
      hello: ({ epoch }) => this.#greet(channel, epoch),
      renew: () => {
        this.#lease.renew();
        return { sizes: Object.fromEntries([...this.#attempts].map(([id, { run }]) => [id, run.report.logSize])) };
      },
      start: ({ order, resources, gang }) => this.#start(order, resources, gang),
      keep: ({ attempt, resources }) => this.#keep(attempt, resources),
      release: ({ attempt }) => {
        this.#kept.delete(attempt);
        this.#devices.release(keptName(attempt));
        this.#noteIdle();
        this.#endWhenEmptied();
        return {};
      },
      stop: ({ attempt, grace, as }) => {
        const message = as === 'node-lost' ? 'another node of its gang was lost' : 'stopped on request';
        this.#attempts.get(attempt)?.run.stop(grace, as ?? 'stopped', message);
        return {};
      },
      forget: ({ attempt }) => {
        if (this.#attempts.get(attempt)?.run.report.state === 'ended') this.#attempts.delete(attempt);
        this.#past.delete(attempt);
        this.#endWhenEmptied();
        return {};
      },
      drain: ({ reason }) => this.#drain(reason),
    };
    return (calls[call] as (args: unknown) => AgentCalls[Name]['answer'])(args);
  }

  #hello(): Hello {
    const { record } = this.#options;
    this.#lease.renew();
    return {
      protocol: protocolVersion,
      node: this.#node,
      type: record.type,
      head: record.kind === 'head',
      total: record.resources,
      labels: record.labels,
      ...(this.#draining ? { draining: this.#draining } : {}),
      idleFor: this.#busy ? 0 : performance.now() - this.#idleSince,
      attempts: [
        ...[...this.#attempts.values()].map(({ run, resources }) => ({ report: run.report, resources })),
        ...[...this.#past.values()].map((report) => ({ report, resources: {} })),
      ],
      kept: [...this.#kept].map(([attempt, resources]) => ({ attempt, resources })),
    };
  }

  #start(order: AttemptOrder, resources: Resources, gang?: readonly GangMember[]): AgentCalls['start']['answer'] {
    if (this.#attempts.has(order.id) || this.#past.has(order.id)) return {};
    const end = this.#host.files.end(order.id);
    if (end) {
      const report: AttemptReport = { id: order.id, state: 'ended', node: this.#node, ...end };
      this.#past.set(order.id, report);
      this.#tell(report);
      return {};
    }
    const refused = this.#refusal(resources);
    if (refused !== undefined) return { refused };
    const devices = this.#devices.take(order.id, resources.GPU ?? 0);
    if (!devices) return { refused: noDevice };
    let run: RunningAttempt;
    try {
      // The last step before it runs: a claim that is not followed by a run would keep every other node from it.
      const elsewhere = this.#host.files.claim(order.id, this.#host.instance);
      if (elsewhere !== this.#host.instance) {
        this.#devices.release(order.id);
        return { refused: 'another node has taken it', elsewhere };
      }
      run = new RunningAttempt(order, this.#variables(devices, gang), this.#host);
    } catch (error) {
      this.#devices.release(order.id);
      throw error;
    }
    this.#attempts.set(order.id, { run, resources });
    if ((resources.memory ?? 0) > 0) this.#memory.watch(run, resources.memory ?? 0);
    return {};
  }

  #keep(attempt: string, resources: Resources): { refused?: string } {
    // Asked again, perhaps for another amount: the last word counts.
    this.#kept.delete(attempt);
    this.#devices.release(keptName(attempt));
    const refused = this.#refusal(resources);
    if (refused !== undefined) return { refused };
    if (!this.#devices.take(keptName(attempt), resources.GPU ?? 0)) return { refused: noDevice };
    this.#kept.set(attempt, resources);
    return {};
  }

  #refusal(resources: Resources): string | undefined {
    if (this.#ending) return 'the node is shutting down';
    if (this.#draining) return 'the node is draining';
    return fits(resources, this.#available) ? undefined : 'the node does not have enough free resources';
  }

  #variables(devices: readonly number[], gang?: readonly GangMember[]): Record<string, string> {
    return {
      MANTA_NODE: this.#node,
      // Where no device was declared, none is managed, and the machine's own setting stands.
      ...(this.#options.record.devices.length > 0 ? { CUDA_VISIBLE_DEVICES: devices.join(',') } : {}),
      ...(gang ? { MANTA_GANG: JSON.stringify(gang) } : {}),
    };
  }

  #drain(reason: DrainReason): AgentCalls['drain']['answer'] {
    if (reason.kind === 'idle' && this.#busy) return { accepted: false, reason: 'the node has work' };
    // A preemption is not taken back by a later wish to drain for another reason.
    if (this.#draining?.kind !== 'preemption') this.#draining = reason;
    this.#endWhenEmptied();
    return { accepted: true };
  }

  /** As a drained raylet does: the node leaves once nothing on it is left to run or to tell of. */
  #endWhenEmptied(): void {
    if (!this.#draining || this.#attempts.size > 0 || this.#kept.size > 0) return;
    // After the answer to the call that emptied it is on its way.
    setImmediate(() => void this.end('the node was drained'));
  }

  #changed(run: RunningAttempt): void {
    const report = run.report;
    if (report.state === 'ended') {
      this.#devices.release(report.id);
      this.#noteIdle();
    }
    this.#tell(report);
  }

  #tell(report: AttemptReport): void {
    for (const channel of this.#channels.keys()) channel.report(report);
  }

  #noteIdle(): void {
    if (!this.#busy) this.#idleSince = performance.now();
  }
}
