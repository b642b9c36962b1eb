import type { Host, HostResult } from '../base/host.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { sshErrors } from '../base/ssh/errors.ts';
import { mayComeUp } from '../base/ssh/host.ts';
import type { RemoteCluster } from './remote-cluster.ts';

export interface KeyOutcome {
  readonly address: string;
  readonly error?: Error;
}

/** This machine may not see the workers; their head does. */
const directWithin = 6_000;
const throughWithin = 15_000;

/** A host of the cluster, directly or through its head. */
export async function reachWorker(
  cluster: RemoteCluster,
  address: string,
  signal: AbortSignal,
  within = throughWithin,
): Promise<Host> {
  const direct = cluster.hostOf(address);
  try {
    await direct.connect({ signal, within: Math.min(within, directWithin) });
    return direct;
  } catch (error) {
    signal.throwIfAborted();
    const unseen = sshErrors.Unreachable.is(error) || sshErrors.Timeout.is(error);
    if (!unseen) throw error;
    const through = cluster.hostOf(address, 'head');
    await through.connect({ signal, within });
    return through;
  }
}

/** Runs a program that may be run twice. A host that lets this machine in at once is asked nothing before it. */
async function runOnWorker(
  cluster: RemoteCluster,
  address: string,
  program: string,
  signal: AbortSignal,
): Promise<HostResult> {
  try {
    return await cluster.hostOf(address).sh(program, { signal, within: directWithin });
  } catch (error) {
    signal.throwIfAborted();
    if (!mayComeUp(error) && !sshErrors.TooLong.is(error)) throw error;
    const host = await reachWorker(cluster, address, signal);
    return await host.sh(program, { signal });
  }
}

/**
 * Lets the cluster's own key in on these hosts, for its head alone and for nothing but commands. Each host by itself: one
 * that cannot be reached keeps no other from it.
 */
export async function installKey(
  cluster: RemoteCluster,
  addresses: readonly string[],
  key: { readonly publicKey: string; readonly from: readonly string[] },
  signal: AbortSignal,
): Promise<readonly KeyOutcome[]> {
  const blob = key.publicKey.trim();
  const line = `restrict,pty,from="${key.from.join(',')}" ${blob}`;
  const program = `umask 077; mkdir -p "$HOME/.ssh" && cd "$HOME/.ssh" || exit 1
grep -qxF ${shellQuoted(line)} authorized_keys 2>/dev/null && exit 0
{ grep -vF ${shellQuoted(blob.split(' ').slice(0, 2).join(' '))} authorized_keys 2>/dev/null; printf '%s\\n' ${shellQuoted(line)}; } >authorized_keys.manta && chmod 600 authorized_keys.manta && mv authorized_keys.manta authorized_keys
`;
  return await Promise.all(
    addresses.map(async (address): Promise<KeyOutcome> => {
      try {
        const { code, stderr } = await runOnWorker(cluster, address, program, signal);
        return code === 0 ? { address } : { address, error: new Error(`${address}: ${stderr.trim()}`) };
      } catch (error) {
        signal.throwIfAborted();
        return { address, error: error as Error };
      }
    }),
  );
}
