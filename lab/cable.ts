import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { systemEnvironment, waitReady } from './boot.ts';
import { childrenOf, endProcess, identify, type ProcessIdentity } from './processes.ts';

/** What a slow cable does to every frame, each way. */
export interface Slowness {
  /** @default 0 */
  readonly latencyMs?: number;
  /** Kilobits a second. @default no limit */
  readonly kbps?: number;
  /** Share of frames that never arrive, 0 to 1. @default 0 */
  readonly loss?: number;
}

export interface CableState {
  readonly cut: boolean;
  readonly slow?: Slowness & { readonly carrier: ProcessIdentity };
}

/** The cable between a host and the switch. It outlives the host: a cut one is cut after a reboot too. */
export class Cable {
  readonly #keeper: ProcessIdentity;
  readonly #port: string;
  readonly #far: string;
  readonly #near: string;
  #state: CableState;

  constructor(keeper: ProcessIdentity, port: string, state: CableState = { cut: false }) {
    this.#keeper = keeper;
    this.#port = port;
    this.#near = `${port}a`;
    this.#far = `${port}b`;
    this.#state = state;
  }

  get state(): CableState {
    return this.#state;
  }

  async cut(): Promise<void> {
    await this.#switch([`link set ${this.#port} down`]);
    this.#state = { ...this.#state, cut: true };
  }

  async mend(): Promise<void> {
    await this.#switch([`link set ${this.#port} up`]);
    this.#state = { ...this.#state, cut: false };
  }

  /** Puts something slow between the host and the switch. Open connections live on. */
  async slow(how: Slowness): Promise<void> {
    await this.fast();
    const { cut } = this.#state;
    await this.#switch([
      `link add ${this.#near} type veth peer name ${this.#far}`,
      // The switch itself must not answer on the loose ends.
      `link set ${this.#near} up arp off`,
      `link set ${this.#port} nomaster arp off ${cut ? 'down' : 'up'}`,
      `link set ${this.#far} master br0 up`,
    ]);
    const child = spawn(
      'nsenter',
      [
        ...['--target', String(this.#keeper.pid), '--mount', '--net', '--pid', '--', '/usr/bin/python3'],
        fileURLToPath(new URL('cable.py', import.meta.url)),
        ...[this.#port, this.#near, ...[how.latencyMs ?? 0, how.kbps ?? 0, how.loss ?? 0].map(String)],
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], detached: true, env: systemEnvironment },
    );
    await waitReady(child, 'the slow cable');
    child.unref();
    this.#state = { cut, slow: { ...how, carrier: identify(childrenOf(child.pid!)[0]!)! } };
  }

  async fast(): Promise<void> {
    const { slow, cut } = this.#state;
    if (slow === undefined) return;
    await endProcess(slow.carrier);
    await this.#switch([`link set ${this.#port} arp on master br0`, `link del ${this.#near}`]);
    this.#state = { cut };
  }

  /** The host goes: its end is gone at once, so that nobody hears of it. */
  async unplug(): Promise<void> {
    await this.#switch([`link del ${this.#port}`]);
  }

  /** A host that came up again has a new end, which is fast. */
  async plugged(): Promise<void> {
    const { slow } = this.#state;
    if (slow === undefined) return;
    await this.fast();
    await this.slow(slow);
  }

  async #switch(lines: readonly string[]): Promise<void> {
    const child = spawn('nsenter', ['--target', String(this.#keeper.pid), '--net', '--', 'ip', '-batch', '-']);
    child.stdin.end(`${lines.join('\n')}\n`);
    const [stderr, code] = await Promise.all([
      buffer(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ]);
    if (code !== 0) throw new Error(`the switch refused '${lines.join('; ')}': ${stderr.toString().trim()}`);
  }
}
