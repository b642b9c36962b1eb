import { MantaError } from '../../base/errors.ts';
import type { EventSink } from '../../base/events.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import { hostsWithoutKeyText } from '../../state/hosts-without-key.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import type { HeadLook } from '../head/look.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import { installKey, type KeyOutcome } from '../reach/worker-key.ts';

export interface KeyInstallation {
  /** Every host has its key, or it was told why not. */
  readonly done: Promise<void>;
  /** Resolves when all have it, or after a moment: mantad is told which are still to get it, and begins with the others. */
  most(): Promise<void>;
}

/** How long mantad is held up by hosts that are slow to take its key, or dead. */
const patience = 1_000;

/** Installs the key of mantad on the workers. */
export function installKeys(
  cluster: RemoteCluster,
  look: HeadLook,
  events: EventSink,
  signal: AbortSignal,
): KeyInstallation {
  const { head, name, headAddress, workerAddresses } = cluster;
  const { publicKey, addresses } = look;
  if (publicKey === undefined) throw launcherErrors.NoSshThere({ host: head.name });
  const from = [...new Set([...addresses, headAddress])].filter((each) => /^[\w.:-]+$/.test(each));
  const left = new Set(workerAddresses);
  let told: Promise<unknown> | undefined;
  const tell = async (): Promise<void> => void (await head.sh(hostsWithoutKeyText(name, [...left]), { signal }));
  const onDone = ({ address, error }: KeyOutcome): void => {
    left.delete(address);
    // What mantad does not hear it finds out by itself, later.
    told = told?.then(tell).catch(() => {});
    if (error === undefined) return;
    const next = error instanceof MantaError ? error.hint : undefined;
    events.emit(launcherEvents.unreached, { host: address, why: error.message, next });
  };
  const done = (async () => {
    await installKey(cluster, workerAddresses, { publicKey, from }, onDone, signal);
    await told;
  })();
  done.catch(() => {});
  return {
    done,
    most: async () => {
      await Promise.race([done, wallClock.sleep(patience, signal)]);
      const first = tell();
      told = first.catch(() => {});
      await first;
    },
  };
}
