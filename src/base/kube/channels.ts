import { Readable, Writable } from 'node:stream';
import type { WebSocket } from 'ws';

/** Kubernetes' way to carry several streams over one WebSocket: the first byte of each message is the number of its stream. */

/** Longer messages make others wait; kubectl's are as long. */
const longestMessage = 32 << 10;

/** In `v5`: a message of this number ends the stream that its second byte names. */
const closing = 255;

export class Channels {
  readonly #socket: WebSocket;
  readonly #readers = new Map<number, (bytes: Buffer) => boolean>();
  readonly #full = new Set<number>();
  #isStarted = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const channel = data[0] ?? closing;
      const take = this.#readers.get(channel);
      if (data.length > 1 && take !== undefined && !take(data.subarray(1))) this.#hold(channel, true);
    });
  }

  /** Lets messages come, when all who read them are there. */
  start(): void {
    this.#isStarted = true;
    this.#socket.resume();
  }

  /** Hands over what comes on a channel, message by message. */
  on(channel: number, take: (bytes: Buffer) => void): void {
    this.#readers.set(channel, (bytes) => {
      take(bytes);
      return true;
    });
  }

  /** What comes on a channel, as a stream; the whole connection waits for a reader that is slow. It ends with `end`. */
  readable(channel: number): Readable {
    const stream = new Readable({ read: () => this.#hold(channel, false) });
    this.#readers.set(channel, (bytes) => stream.destroyed || stream.push(bytes));
    stream.once('close', () => this.#hold(channel, false));
    return stream;
  }

  /** Sends what is written to it; its end reaches the other side where `v5` is spoken. */
  writable(channel: number): Writable {
    const stream = new Writable({
      write: (bytes: Buffer, _, done) => this.#sendAll(channel, bytes, done),
      final: (done) => {
        if (this.#socket.protocol.startsWith('v5.')) this.send(closing, Buffer.of(channel), done);
        else done();
      },
    });
    // Anyone who waits for the other side learns of a lost connection there.
    return stream.on('error', () => {});
  }

  send(channel: number, bytes: Uint8Array, done: (error?: Error | null) => void = () => {}): void {
    this.#socket.send(Buffer.concat([Buffer.of(channel), bytes]), { binary: true }, done);
  }

  #sendAll(channel: number, bytes: Buffer, done: (error?: Error | null) => void): void {
    for (let at = 0; ; at += longestMessage) {
      const isLast = at + longestMessage >= bytes.length;
      this.send(channel, bytes.subarray(at, at + longestMessage), isLast ? done : undefined);
      if (isLast) return;
    }
  }

  #hold(channel: number, isFull: boolean): void {
    if (isFull) this.#full.add(channel);
    else this.#full.delete(channel);
    if (this.#full.size > 0) this.#socket.pause();
    else if (this.#isStarted) this.#socket.resume();
  }
}
