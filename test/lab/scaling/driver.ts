import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export const driverProgram = readFileSync(new URL('./driver.py', import.meta.url), 'utf8');

/** Catches hangs; nothing is measured by it. */
const patience = 600_000;

interface Answer {
  readonly order: number;
  readonly hosts?: readonly string[];
  readonly error?: string;
}

/** What was asked for, while it waits or runs. */
export interface Order {
  readonly number: number;
  /** Names of the hosts that its pieces ran on, once all have. Rejects when it was withdrawn. */
  readonly done: Promise<readonly string[]>;
}

/** One driver of Ray on the head, for all scenarios of a bed. */
export class Driver {
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, PromiseWithResolvers<readonly string[]>>();
  #orders = 0;
  #said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stdin!.on('error', () => undefined);
    for (const stream of [child.stdout!, child.stderr!])
      createInterface({ input: stream }).on('line', (line) => this.#read(line));
    child.on('close', () => {
      for (const each of this.#answers.values()) each.reject(new Error(`the driver has ended:\n${this.said}`));
    });
  }

  static async open(child: ChildProcess): Promise<Driver> {
    const driver = new Driver(child);
    await driver.#expect(0);
    return driver;
  }

  /** All that Ray has printed into the driver's output, the autoscaler's words among it. */
  get said(): string {
    return this.#said;
  }

  make(order: object): Order {
    const number = ++this.#orders;
    const done = this.#expect(number);
    done.catch(() => undefined);
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
    return { number, done };
  }

  async withdraw({ number }: Order): Promise<void> {
    await this.make({ kind: 'withdraw', order: number }).done;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.stdin!.end();
    await closed;
  }

  #expect(number: number): Promise<readonly string[]> {
    const answer = Promise.withResolvers<readonly string[]>();
    this.#answers.set(number, answer);
    const late = setTimeout(() => answer.reject(new Error(`order ${number} was never done:\n${this.#said}`)), patience);
    answer.promise.finally(() => clearTimeout(late)).catch(() => undefined);
    return answer.promise;
  }

  #read(line: string): void {
    if (!line.startsWith('ANSWER')) {
      this.#said = `${this.#said}${line}\n`.slice(-20_000);
      return;
    }
    const { order, hosts, error } = JSON.parse(line.slice('ANSWER'.length)) as Answer;
    if (error === undefined) this.#answers.get(order)?.resolve(hosts ?? []);
    else this.#answers.get(order)?.reject(new Error(error));
  }
}
