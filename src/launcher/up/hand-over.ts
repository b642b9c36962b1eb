import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { bringupEvents } from '../../bringup/events.ts';
import { throughDrops } from '../../bringup/steps/through-drops.ts';
import { launcherEvents } from '../events.ts';
import { type HeadLook, headLook } from '../head/look.ts';
import { runtimeOf } from '../head/ship/runtime.ts';
import { shipRuntime, startMantad } from '../head/ship/ship.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { installKeys } from './authorize-workers.ts';

export interface HandOverEdges {
  readonly cluster: RemoteCluster;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly events: EventSink;
  readonly connectWithin: number;
  /** The head as it was found under the lock. */
  readonly look: HeadLook;
  /** Writes what mantad's folder on the head begins with. */
  readonly putFolder: (look: HeadLook) => Promise<void>;
  /** mantad serves on the head. `began` is when this started, by the clock of the head. */
  readonly onHandedOver: (began: number) => void;
}

/** Brings mantad to the head and starts it there, while the head's node is being set up. */
export class HandOver {
  readonly #edges: HandOverEdges;
  readonly #synced = Promise.withResolvers<void>();
  #seen: HeadLook | undefined;
  #keysInstalled: Promise<void> | undefined;

  constructor(edges: HandOverEdges) {
    this.#edges = edges;
    this.#seen = edges.look;
    // Given up before anybody waits for it, it is told by `run` alone.
    this.#synced.promise.catch(() => {});
  }

  /** Goes on when a lost connection is back. */
  run(signal: AbortSignal): Promise<void> {
    const { cluster, events, connectWithin } = this.#edges;
    const { head: host } = cluster;
    return throughDrops(
      () => host.connect({ signal, within: connectWithin }),
      () => this.#once(signal),
      (why) => events.emit(bringupEvents.goingOn, { node: host.name, why: why.message }),
      signal,
    );
  }

  /** The files are on the host, and its folder is made. */
  synced(): void {
    this.#synced.resolve();
  }

  giveUp(error: unknown): void {
    this.#synced.reject(error);
  }

  /** Settles when the workers accept the head's key, as far as they answer. */
  get keysInstalled(): Promise<void> | undefined {
    return this.#keysInstalled;
  }

  async #once(signal: AbortSignal): Promise<void> {
    const { cluster, env, events, look, putFolder, onHandedOver } = this.#edges;
    const { head: host, name } = cluster;
    // A host that was lost may have been rebooted: what ran on it is then another process, or none.
    const now = this.#seen ?? (await lookAgain(host, name, signal));
    this.#seen = undefined;
    const runtime = await runtimeOf(env, signal);
    const keys = installKeys(cluster, now, events, signal);
    this.#keysInstalled = keys.done;
    const [{ node }] = await Promise.all([
      shipRuntime(host, now, runtime, env, { signal, within: 600_000 }),
      this.#synced.promise,
    ]);
    await keys.most();
    await putFolder(now);
    const boot = await startMantad(host, name, now, { node, runtime }, { signal });
    onHandedOver(look.now);
    if (boot === 'none') events.emit(launcherEvents.noBoot, { host: host.name });
  }
}

async function lookAgain(host: Host, cluster: string, signal: AbortSignal): Promise<HeadLook> {
  const { text, read } = headLook(cluster, true);
  return read((await host.sh(text, { signal })).stdout);
}
