import type { Socket } from 'node:net';
import { messageOf } from '../../base/errors.ts';
import type { Duration } from '../../base/time/clock.ts';
import type { AttemptReport } from '../runner.ts';
import { embeddedErrors } from './errors.ts';
import type { AgentCalls, CallName, Message } from './protocol.ts';

/** A line longer than this is not one of our messages. */
const maxLine = 64 << 20;

export type CallHandler = <Name extends CallName>(
  call: Name,
  args: AgentCalls[Name]['args'],
) => Promise<AgentCalls[Name]['answer']> | AgentCalls[Name]['answer'];

export interface ChannelEvents {
  /** Answers the other side's calls; absent on the side that only calls. */
  readonly answer?: CallHandler;
  readonly report?: (report: AttemptReport) => void;
  readonly close: () => void;
}

interface Open {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly call: CallName;
  readonly timer?: NodeJS.Timeout;
}

/** One JSON message a line, calls with answers in any order, over a socket that either side may lose at any time. */
export class Channel {
  readonly #socket: Socket;
  readonly #name: string;
  readonly #events: ChannelEvents;
  readonly #open = new Map<number, Open>();
  #next = 1;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(socket: Socket, name: string, events: ChannelEvents) {
    this.#socket = socket;
    this.#name = name;
    this.#events = events;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const open of this.#open.values()) {
        clearTimeout(open.timer);
        open.reject(embeddedErrors.AgentSilent({ instance: name, call: open.call }));
      }
      this.#open.clear();
      events.close();
    });
  }

  /** Rejects with AgentSilent when the connection is lost, or `timeout` passes, before the answer. */
  call<Name extends CallName>(
    call: Name,
    args: AgentCalls[Name]['args'],
    timeout?: Duration,
  ): Promise<AgentCalls[Name]['answer']> {
    const { promise, resolve, reject } = Promise.withResolvers<AgentCalls[Name]['answer']>();
    const id = this.#next++;
    const silent = (): void => {
      this.#open.delete(id);
      reject(embeddedErrors.AgentSilent({ instance: this.#name, call }));
    };
    if (this.#socket.destroyed || !this.#socket.writable) {
      silent();
      return promise;
    }
    const open = { resolve: resolve as (answer: unknown) => void, reject, call };
    this.#open.set(id, timeout === undefined ? open : { ...open, timer: setTimeout(silent, timeout) });
    this.#send({ id, call, args });
    return promise;
  }

  report(report: AttemptReport): void {
    this.#send({ report });
  }

  /** Closes when what was said has been sent. */
  end(): void {
    this.#socket.end(() => this.#socket.destroy());
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(message: Message): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  #take(bytes: Buffer): void {
    let from = 0;
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      this.#parts.push(bytes.subarray(from, to));
      from = to + 1;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#length = 0;
      this.#read(line);
    }
    this.#parts.push(bytes.subarray(from));
    this.#length += bytes.length - from;
    if (this.#length > maxLine) this.close();
  }

  #read(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      this.close();
      return;
    }
    if ('report' in message) this.#events.report?.(message.report);
    else if ('call' in message) void this.#answer(message.id, message.call, message.args);
    else this.#settle(message);
  }

  #settle(message: Extract<Message, { id: number }>): void {
    const open = this.#open.get(message.id);
    if (!open) return;
    this.#open.delete(message.id);
    clearTimeout(open.timer);
    if ('problem' in message)
      open.reject(embeddedErrors.AgentRefused({ instance: this.#name, call: open.call, problem: message.problem }));
    else if ('answer' in message) open.resolve(message.answer);
  }

  async #answer(id: number, call: CallName, args: unknown): Promise<void> {
    try {
      if (!this.#events.answer) throw embeddedErrors.Protocol({ problem: `'${call}' is not valid in this direction` });
      this.#send({ id, answer: await this.#events.answer(call, args as never) });
    } catch (error) {
      this.#send({ id, problem: messageOf(error) });
    }
  }
}
