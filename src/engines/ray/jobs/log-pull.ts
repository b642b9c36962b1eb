import { type LogWriter, openLogWriter } from '../../../base/files/log-segments.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { within } from '../../../base/time/deadline.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';
import { DriverLog } from './driver-log.ts';
import type { RayHttp } from './http.ts';

export interface LogSource {
  readonly submission: string;
  readonly entrypoint: string;
  /** `http://host:port` of the agent on the driver's node. */
  readonly agent: string;
  /** Folder of the log, see `base/files/log-segments.ts`. */
  readonly log: string;
}

export interface PullEdges {
  readonly http: RayHttp;
  readonly clock: Clock;
  /** How long to wait at least while nothing comes, so that many quiet jobs together ask little. */
  readonly quietPause: () => Duration;
}

const pieceBytes = 4 << 20;
const shortestPause = 100;
const longestPause = 1_000;

/**
 * Copies the output of a job from the disk of its driver's node while it runs. The node's agent serves Ray's log folder
 * with byte ranges, which is exact and resumes anywhere; the tail of Ray's jobs API is text, and always begins at zero.
 */
export class LogPull {
  readonly #source: LogSource;
  readonly #edges: PullEdges;
  readonly #clock: Clock;
  readonly #writer: LogWriter;
  readonly #filter: DriverLog;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #fileAt = 0;
  #outAt = 0;
  #pulling: Promise<unknown> = Promise.resolve();
  #over = false;

  constructor(source: LogSource, edges: PullEdges) {
    this.#source = source;
    this.#edges = edges;
    this.#clock = steadyClock(edges.clock);
    this.#writer = openLogWriter(source.log, { now: () => edges.clock.now() });
    this.#filter = new DriverLog(source.submission, source.entrypoint);
    this.#running = this.#follow();
  }

  get size(): number {
    return this.#writer.size;
  }

  /** All is here, or it was given up. */
  get over(): boolean {
    return this.#over;
  }

  /** Copies what is left and ends the log. False when the node gave nothing for so long and there is more. */
  async finish(patience: Duration): Promise<boolean> {
    if (this.#over) return true;
    await this.#stopFollowing();
    let deadline = this.#clock.now() + patience;
    for (let pause = shortestPause; ; pause = Math.min(longestPause, pause * 2)) {
      try {
        while (await within(this.#clock, patience, (signal) => this.#next(signal, true))) {
          deadline = this.#clock.now() + patience;
          pause = shortestPause;
        }
        break;
      } catch {
        if (this.#clock.now() + pause > deadline) {
          this.#writer.close();
          return false;
        }
        await this.#clock.sleep(pause);
      }
    }
    this.#write(this.#filter.rest());
    this.#over = true;
    this.#writer.end();
    return true;
  }

  /** Ends a log whose last bytes cannot be had, and says so in it. */
  async abandon(reason: string): Promise<void> {
    await this.#stopFollowing();
    this.#write(this.#filter.rest());
    this.#writer.write(Buffer.from(`\n[manta] the rest of the output is missing: ${reason}\n`));
    this.#over = true;
    this.#writer.end();
  }

  /** Lets go of the log; another pull may go on with it. */
  async close(): Promise<void> {
    await this.#stopFollowing();
    this.#writer.close();
  }

  async #stopFollowing(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#pulling.catch(() => {});
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    for (let pause = shortestPause; !signal.aborted; ) {
      try {
        this.#pulling = this.#next(signal, false);
        const more = await this.#pulling;
        pause = more ? shortestPause : Math.min(Math.max(longestPause, this.#edges.quietPause()), pause * 1.3);
      } catch {
        pause = longestPause;
      }
      await this.#clock.sleep(pause, signal).catch(() => {});
    }
  }

  /** True when there was something. */
  async #next(signal: AbortSignal, over: boolean): Promise<boolean> {
    const { submission, agent } = this.#source;
    const answer = await this.#edges.http.ask(
      agent,
      {
        path: `/logs/job-driver-${encodeURIComponent(submission)}.log`,
        headers: { range: `bytes=${this.#fileAt}-${this.#fileAt + pieceBytes - 1}` },
      },
      signal,
    );
    // Nothing behind what was read, or not there yet; a job that is over has left a file.
    if (answer.status === 416 || (answer.status === 404 && !over)) return false;
    if (answer.status !== 206) throw new Error(`the agent responded with HTTP ${answer.status}`);
    this.#fileAt += answer.body.length;
    this.#write(this.#filter.take(answer.body));
    if (this.#filter.settled && this.#outAt < this.#writer.size) {
      // What an earlier pull has written is not fetched again.
      this.#fileAt += this.#writer.size - this.#outAt;
      this.#outAt = this.#writer.size;
    }
    return answer.body.length > 0;
  }

  #write(bytes: Buffer): void {
    this.#writer.write(bytes, this.#outAt);
    this.#outAt += bytes.length;
  }
}
