import { connect, type Socket } from 'node:net';
import type { Duration } from '../../../base/time/clock.ts';

/** Where a node's raylet listens. */
export interface RayletAddress {
  readonly node: string;
  readonly address: string;
  readonly port: number;
}

export interface RayletLinesEdges {
  /** Nobody answers there any more, and Ray does not know it yet. Called once until `back`. */
  readonly suspect: (node: string, why: string) => void;
  /** It answers again. */
  readonly back: (node: string) => void;
}

const connectWithin: Duration = 3_000;
/** The kernel asks a silent machine after this long, then every second, and gives it up after ten questions. */
const keepAliveAfter: Duration = 3_000;
/** Sooner, so many machines are called again in turn: a small cluster whole, of a large one a part. */
const callEvery: Duration = 2_000;
const callsAtOnce = 50;
const tryAgainAfter: Duration = 500;
const tryAgainAtMost: Duration = 5_000;
/** A raylet that ends as it should is struck from Ray's table in less than this. */
const failuresUntilSuspect = 2;

interface Line extends RayletAddress {
  socket?: Socket;
  timer?: NodeJS.Timeout;
  standing: boolean;
  failures: number;
  suspect: boolean;
}

/**
 * A connection to each raylet, on which nothing is said: its end tells at once, and without a question, that the process is
 * gone. That a machine is gone, calls find out, and the kernel's own probes of the line. Ray's health checks take many times
 * as long to say so.
 */
export class RayletLines {
  readonly #edges: RayletLinesEdges;
  readonly #lines = new Map<string, Line>();
  #calling: NodeJS.Timeout | undefined;
  /** Nodes that are yet to be called in this round. */
  #round: string[] = [];

  constructor(edges: RayletLinesEdges) {
    this.#edges = edges;
  }

  /** Holds lines to these and to no others. */
  follow(places: readonly RayletAddress[]): void {
    const wanted = new Set(places.map(({ node }) => node));
    for (const node of this.#lines.keys()) if (!wanted.has(node)) this.leave(node);
    for (const place of places) {
      if (this.#lines.has(place.node) || place.port <= 0) continue;
      const line: Line = { ...place, standing: false, failures: 0, suspect: false };
      this.#lines.set(place.node, line);
      this.#open(line);
    }
    this.#calling ??= setInterval(() => this.#callSome(), callEvery).unref();
  }

  /** It is meant to go: its end is not news. */
  leave(node: string): void {
    const line = this.#lines.get(node);
    this.#lines.delete(node);
    clearTimeout(line?.timer);
    line?.socket?.destroy();
  }

  close(): void {
    clearInterval(this.#calling);
    this.#calling = undefined;
    for (const node of [...this.#lines.keys()]) this.leave(node);
  }

  #open(line: Line): void {
    const socket = connect({ host: line.address, port: line.port });
    line.socket = socket;
    let stood = false;
    let why = '';
    socket.setKeepAlive(true, keepAliveAfter);
    socket.setTimeout(connectWithin, () => {
      if (!stood) socket.destroy(new Error('no answer'));
    });
    socket.on('connect', () => {
      stood = true;
      line.standing = true;
      socket.setTimeout(0);
      line.failures = 0;
      if (line.suspect) this.#edges.back(line.node);
      line.suspect = false;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (why = error.code ?? error.message));
    socket.on('close', () => {
      line.standing = false;
      if (this.#lines.get(line.node) !== line) return;
      // A raylet hangs up on anyone who says nothing for minutes: only one that cannot be called again is suspect.
      if (!stood) this.#failed(line, why);
      const pause = stood ? 0 : Math.min(tryAgainAfter * Math.max(1, line.failures), tryAgainAtMost);
      line.timer = setTimeout(() => this.#open(line), pause);
      line.timer.unref();
    });
    socket.resume();
    socket.unref();
  }

  #callSome(): void {
    if (this.#round.length === 0) this.#round = [...this.#lines.keys()];
    for (const node of this.#round.splice(0, callsAtOnce)) {
      const line = this.#lines.get(node);
      if (line?.standing) this.#call(line);
    }
  }

  /** A machine that is gone says nothing on a line that stands: only a call finds out. */
  #call(line: Line): void {
    const call = connect({ host: line.address, port: line.port, timeout: connectWithin });
    call.unref();
    call.on('connect', () => call.destroy());
    const lost = (): void => {
      call.destroy();
      if (this.#lines.get(line.node) !== line || !line.standing) return;
      line.failures += 1;
      line.socket?.destroy();
    };
    call.on('timeout', lost);
    call.on('error', lost);
  }

  #failed(line: Line, code: string): void {
    line.failures += 1;
    if (line.suspect || line.failures < failuresUntilSuspect) return;
    line.suspect = true;
    const where = `${line.address}:${line.port}`;
    const why =
      code === 'ECONNREFUSED' ? `no raylet is listening at ${where} any more` : `${where} does not respond (${code})`;
    this.#edges.suspect(line.node, why);
  }
}
