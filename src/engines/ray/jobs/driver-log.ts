/** Ray's first word in the log of a driver that runs on the head. */
const headLine = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\tINFO job_manager\.py:\d+ -- Runtime env is setting up\.\n/;
const longestHeadLine = 120;

/**
 * Takes Ray's own words out of the log of a driver, so that what is left is the job's output, byte for byte. Ray writes
 * one line before the entrypoint runs and flushes a second one a moment after it has begun: that one may stand anywhere
 * among the first output, in the middle of a line too.
 */
export class DriverLog {
  readonly #mark: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #headPassed = false;
  #markFound = false;

  constructor(id: string, entrypoint: string) {
    this.#mark = Buffer.from(`Running entrypoint for job ${id}: ${entrypoint}\n`);
  }

  /** Nothing is left to be taken out: from here on the output is what stands in the file. */
  get settled(): boolean {
    return this.#markFound;
  }

  /** The next bytes of the file in, the next bytes of the output out; what may be part of Ray's words is kept back. */
  take(bytes: Buffer): Buffer {
    if (this.#markFound) return bytes;
    let open = Buffer.concat([this.#held, bytes]);
    this.#held = Buffer.alloc(0);
    if (!this.#headPassed) {
      const start = open.toString('latin1', 0, longestHeadLine);
      const found = headLine.exec(start);
      if (!found && open.length < longestHeadLine && !start.includes('\n') && /^(?:\d|$)/.test(start)) {
        this.#held = open;
        return Buffer.alloc(0);
      }
      this.#headPassed = true;
      open = open.subarray(found?.[0].length ?? 0);
    }
    const at = open.indexOf(this.#mark);
    if (at >= 0) {
      this.#markFound = true;
      return Buffer.concat([open.subarray(0, at), open.subarray(at + this.#mark.length)]);
    }
    const kept = overlap(open, this.#mark);
    this.#held = Buffer.from(open.subarray(open.length - kept));
    return open.subarray(0, open.length - kept);
  }

  /** No byte follows: what was kept back is output after all. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}

/** Length of the longest end of `bytes` that `mark` begins with. */
function overlap(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(bytes.length, mark.length - 1); length > 0; length--)
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  return 0;
}
