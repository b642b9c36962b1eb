import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { endProcesses, findMarked, isAlive, sendSignal } from '../../base/process.ts';
import type { Duration } from '../../base/time/clock.ts';
import type { AttemptReport } from '../runner.ts';
import { Channel } from './channel.ts';
import { embeddedErrors } from './errors.ts';
import type { AgentCalls, AgentRecord, CallName, Hello } from './protocol.ts';
import { protocolVersion } from './protocol.ts';

export interface LinkOptions {
  /** Of the head that holds this link. */
  readonly epoch: number;
  /** How often the lease is renewed. @default 10 seconds */
  readonly renewEvery?: Duration;
  /** An agent that runs and has not answered for this long is ended. @default 30 seconds */
  readonly silentAfter?: Duration;
}

export interface LinkEvents {
  /** At every connection, the first included. */
  readonly hello: (hello: Hello) => void;
  readonly report: (report: AttemptReport) => void;
  readonly sizes: (sizes: Readonly<Record<string, number>>) => void;
  /** The agent cannot be asked for now. */
  readonly disconnected: () => void;
  /** The agent is dead, and nothing of its work runs any more. */
  readonly lost: () => void;
}

/** The engine's side of one agent: keeps the connection and the lease, and finds out when the agent is no more. */
export class NodeLink {
  readonly record: AgentRecord;
  /** Resolves when the agent has answered once, or is lost. */
  readonly known: Promise<void>;
  readonly #events: LinkEvents;
  readonly #epoch: number;
  readonly #renewEvery: Duration;
  readonly #silentAfter: Duration;
  readonly #settle: () => void;
  #channel: Channel | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heard = performance.now();
  #pause = 10;
  /** It is asked once more before it counts as silent: it may be this process that stood still, with the answer at its door. */
  #lastAsked = false;
  /** Nothing more is heard of this link: it was closed, or its agent is dead. */
  #over = false;
  #closed = false;

  constructor(record: AgentRecord, events: LinkEvents, options: LinkOptions) {
    this.record = record;
    this.#events = events;
    this.#epoch = options.epoch;
    this.#renewEvery = options.renewEvery ?? 10_000;
    this.#silentAfter = options.silentAfter ?? 30_000;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.known = promise;
    this.#settle = resolve;
    this.#connect();
  }

  /** True while the agent can be asked. */
  get connected(): boolean {
    return this.#channel !== undefined;
  }

  call<Name extends CallName>(call: Name, args: AgentCalls[Name]['args']): Promise<AgentCalls[Name]['answer']> {
    if (!this.#channel) return Promise.reject(embeddedErrors.AgentSilent({ instance: this.record.instance, call }));
    return this.#channel.call(call, args);
  }

  /** Lets go of the agent, which lives on. */
  close(): void {
    this.#over = true;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#channel?.close();
    this.#channel = undefined;
    this.#settle();
  }

  #connect(): void {
    const socket = connect(this.record.socket);
    const channel = new Channel(socket, this.record.instance, {
      report: (report) => this.#events.report(report),
      close: () => this.#disconnected(),
    });
    socket.on('connect', () => void this.#greet(channel));
  }

  async #greet(channel: Channel): Promise<void> {
    try {
      const greeting = { protocol: protocolVersion, epoch: this.#epoch };
      const hello = await channel.call('hello', greeting, this.#lastAsked ? this.#silentAfter / 3 : this.#silentAfter);
      if (this.#over) return;
      // Another head has the agent now, and with it the say over everything on it.
      if ('superseded' in hello) return this.close();
      if (hello.protocol !== protocolVersion) throw embeddedErrors.Protocol({ problem: `version ${hello.protocol}` });
      this.#heard = performance.now();
      this.#lastAsked = false;
      this.#pause = 10;
      this.#channel = channel;
      this.#events.hello(hello);
      this.#settle();
      this.#timer = setTimeout(() => void this.#renew(channel), this.#renewEvery);
    } catch {
      channel.close();
    }
  }

  async #renew(channel: Channel): Promise<void> {
    try {
      const { sizes } = await channel.call('renew', {}, this.#silentAfter);
      this.#heard = performance.now();
      this.#events.sizes(sizes);
      if (!this.#over) this.#timer = setTimeout(() => void this.#renew(channel), this.#renewEvery);
    } catch {
      channel.close();
    }
  }

  #disconnected(): void {
    clearTimeout(this.#timer);
    const wasConnected = this.connected;
    this.#channel = undefined;
    if (wasConnected) this.#events.disconnected();
    if (this.#over) return;
    const silent = performance.now() - this.#heard >= this.#silentAfter;
    if ((silent && this.#lastAsked) || !isAlive(this.record)) {
      this.#over = true;
      void this.#bury();
      return;
    }
    this.#lastAsked = silent;
    this.#timer = setTimeout(() => this.#connect(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, 1_000);
  }

  /** Nobody is told of the loss before its work has verifiably ended: a retry must not meet it. */
  async #bury(): Promise<void> {
    while (isAlive(this.record)) {
      sendSignal(this.record.pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    while ((await endProcesses(() => findMarked(this.record.instance), 0)).length > 0);
    rmSync(this.record.socket, { force: true });
    if (!this.#closed) this.#events.lost();
    this.#settle();
  }
}
