import { createServer, type Server } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { listenOnSwitch } from '../../../lab/cloud/listen.ts';
import type { Lab } from '../../../lab/lab.ts';

const port = 8701;

/** What a node asks for while it is made; refused as often as was ordered. */
export type Knob = 'setup' | 'start';

/**
 * Holds work in its place until a test lets it go on, and knows where each piece of it is; and lets steps of a bring-up
 * fail. On the switch of the lab, where every host reaches it.
 */
export class Turnstile {
  readonly url: string;
  readonly #server: Server;
  readonly #listening: readonly NetServer[];
  readonly #places = new Map<number, Map<number, string>>();
  readonly #open = new Set<string>();
  readonly #refusals = new Map<Knob, number>();
  #held: PromiseWithResolvers<void> | undefined;

  private constructor(lab: Lab, server: Server, listening: readonly NetServer[]) {
    this.url = `http://${lab.gateway}:${port}`;
    this.#server = server;
    this.#listening = listening;
  }

  static async open(lab: Lab): Promise<Turnstile> {
    const server = createServer((request, response) => {
      void turnstile
        .#answer((request.url ?? '').split('/').slice(1))
        .then(([status, text]) => response.writeHead(status).end(text));
    });
    const listening = await listenOnSwitch(lab.keeper, [{ address: lab.gateway, port }]);
    for (const each of listening) each.on('connection', (socket) => server.emit('connection', socket));
    const turnstile = new Turnstile(lab, server, listening);
    return turnstile;
  }

  /** Where the pieces of an order were last heard of, by piece. */
  places(order: number): ReadonlyMap<number, string> {
    return this.#places.get(order) ?? new Map();
  }

  /** Forgets where they were: what still holds its place says so again. */
  forget(order: number): void {
    this.#places.delete(order);
  }

  /** Lets all pieces of an order go on, or some. */
  letGo(order: number, pieces?: readonly number[]): void {
    for (const piece of pieces ?? ['all']) this.#open.add(`${order}/${piece}`);
  }

  refuse(knob: Knob, times: number): void {
    this.#refusals.set(knob, times);
  }

  /** Whatever a bring-up asks for is answered no sooner than `release`. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  close(): void {
    this.release();
    for (const each of this.#listening) each.close();
    this.#server.closeAllConnections();
  }

  async #answer([what, first = '', second = '', host = '']: readonly string[]): Promise<[number, string]> {
    if (what === 'knob') {
      await this.#held?.promise;
      const left = this.#refusals.get(first as Knob) ?? 0;
      this.#refusals.set(first as Knob, Math.max(0, left - 1));
      return left > 0 ? [503, 'not this time\n'] : [200, ''];
    }
    const order = Number(first);
    const places = this.#places.get(order) ?? new Map<number, string>();
    this.#places.set(order, places.set(Number(second), host));
    return [200, this.#open.has(`${first}/${second}`) || this.#open.has(`${first}/all`) ? 'open' : 'wait'];
  }
}
