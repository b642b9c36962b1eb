import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LabHost } from '../../lab/lab.ts';

const program = fileURLToPath(new URL('driver.py', import.meta.url));
const answersWithin = 300_000;

/** A Ray driver on a head, told what to do line by line. */
export class Driver {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    child.stderr!.on('data', (piece: Buffer) => {
      this.#said = `${this.#said}${piece.toString()}`.slice(-3_000);
    });
    child.stdin!.on('error', () => {});
  }

  /** `before` is shell text that runs in its shell. */
  static async start(host: LabHost, env: Readonly<Record<string, string>>, before = ''): Promise<Driver> {
    writeFileSync(join(host.root, 'tmp/bench-driver.py'), readFileSync(program));
    const driver = new Driver(host.spawn(['bash', '-lc', `${before}exec python -u /tmp/bench-driver.py`], { env }));
    await driver.#answer('ready');
    return driver;
  }

  /** Tasks that want one of this resource each and take so long. The instant just before the first. */
  async submit(resource: string, count: number, seconds = 3600): Promise<number> {
    return this.#ask(`submit ${resource} ${count} ${seconds}`, 'submitted');
  }

  /** Actors that want one of this resource each. The instant just before the first. */
  actors(resource: string, count: number): Promise<number> {
    return this.#ask(`actors ${resource} ${count}`, 'submitted');
  }

  /** Takes back the tasks or actors that were submitted last; the instant at which the last of them was over. */
  cancel(): Promise<number> {
    return this.#ask('cancel', 'cancelled');
  }

  /** When so many nodes are alive, the head among them. */
  alive(count: number): Promise<number> {
    return this.#ask(`alive ${count}`, 'alive');
  }

  /** When no node but the head is alive. */
  only(): Promise<number> {
    return this.#ask('only', 'alone');
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }

  #ask(line: string, answer: string): Promise<number> {
    this.#child.stdin!.write(`${line}\n`);
    return this.#answer(answer);
  }

  async #answer(word: string): Promise<number> {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), answersWithin);
    try {
      for (;;) {
        const { value, done } = await this.#lines.next();
        if (done) throw new Error(`the driver has ended: ${this.#said}`);
        const [mark, said, at] = value.split(' ');
        if (mark === 'BENCH' && said === word) return Number(at);
      }
    } finally {
      clearTimeout(late);
    }
  }
}
