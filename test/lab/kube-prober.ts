// needs: hosts, kube

/** Requests through a Service on all of its routes, and the count of those that were lost. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { LabHost } from '../../lab/lab.ts';
import { eventually } from './cluster-bed.ts';

export interface Probed {
  readonly route: string;
  readonly sent: number;
  readonly ended: number;
  readonly status: number;
  readonly body: string;
}

export class Prober {
  readonly answers: Probed[] = [];
  readonly #child: ChildProcess;
  readonly #routes: readonly string[];

  /** Runs on a node, which reaches Services as pods do. */
  constructor(node: LabHost, address: string, routes: readonly string[], pause = 50) {
    this.#routes = routes;
    const words = ['node', '/opt/kube-lab/probe.ts', address, String(pause), ...routes];
    this.#child = node.spawn(words, { user: 'root', stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.answers.push(JSON.parse(line) as Probed));
  }

  /** Waits until the last answers of every route are so. */
  async until(what: string, isSo: (answer: Probed) => boolean, within?: number): Promise<void> {
    await eventually(`the prober sees ${what}`, () => this.#routes.every((route) => this.#lastOf(route, isSo)), within);
  }

  #lastOf(route: string, isSo: (answer: Probed) => boolean): boolean {
    const last = this.answers.filter((answer) => answer.route === route).slice(-3);
    return last.length === 3 && last.every(isSo);
  }

  /** When, for the first time after `from`, every route had answered so and went on to. */
  agreedAt(from: number, isSo: (answer: Probed) => boolean): number | undefined {
    const each = this.#routes.map((route) => {
      const since = this.answers.filter((answer) => answer.route === route && answer.ended >= from);
      const wrong = since.findLastIndex((answer) => !isSo(answer));
      return since[wrong + 1]?.ended;
    });
    return each.every((at) => at !== undefined) ? Math.max(...each) : undefined;
  }

  /** Requests that were sent after `from` and not answered with 200. */
  lost(from = 0): readonly Probed[] {
    return this.answers.filter(({ sent, status }) => sent >= from && status !== 200);
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}
