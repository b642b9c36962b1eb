import { messageOf } from '../../base/errors.ts';
import type { Host } from '../../base/host.ts';
import type { Cleared, Left } from '../../core/cleared.ts';
import { endHost, type HostToEnd } from './end-host.ts';

export interface HostToClear {
  readonly name: string;
  /** Rejects where it does not answer. */
  readonly open: () => Promise<Host>;
  /** Called once nothing of the cluster is left there. */
  readonly done?: () => void;
}

const connectWithin = 20_000;

/** A host that is reached by its connection, which may not stand yet. */
export const byConnection = (host: Host, signal: AbortSignal, done?: () => void): HostToClear => ({
  name: host.name,
  open: async () => {
    await host.connect({ signal, within: connectWithin });
    return host;
  },
  ...(done !== undefined && { done }),
});

/** Clears hosts of a cluster, all at once; each is looked at again before it counts. One that does not answer holds nobody up. */
export async function clearHosts(
  hosts: readonly HostToClear[],
  what: HostToEnd,
  signal: AbortSignal,
): Promise<Cleared> {
  const left: Left[] = [];
  const ended: string[] = [];
  await Promise.all(
    hosts.map(async ({ name, open, done }) => {
      try {
        const rest = await endHost(await open(), what, signal);
        if (rest.length > 0) left.push({ host: name, why: `still running: ${rest.join(', ')}` });
        else {
          ended.push(name);
          done?.();
        }
      } catch (error) {
        signal.throwIfAborted();
        left.push({ host: name, why: messageOf(error) });
      }
    }),
  );
  return { ended, left };
}
