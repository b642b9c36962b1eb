import type { Host, HostResult } from '../../base/host.ts';
import { mayComeUp, sshErrors } from '../../base/ssh/errors.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import { authorizeKeyText } from '../../bringup/node/authorized-keys.ts';
import type { RemoteCluster } from './remote-cluster.ts';

export interface KeyOutcome {
  readonly address: string;
  readonly error?: Error;
}

/** This machine may not see the workers; their head does. */
const directWithin = 6_000;
const throughWithin = 15_000;
/** A host that has not answered by then is tried through the head beside it. */
const headStart = 1_500;

/** A host of the cluster, directly or through its head. */
export async function reachWorker(
  cluster: RemoteCluster,
  address: string,
  signal: AbortSignal,
  within = throughWithin,
): Promise<Host> {
  return await eitherWay(cluster, address, signal, within, async (host, options) => {
    await host.connect(options);
    return host;
  });
}

/** Runs a program that may be run twice. A host that lets this machine in at once is asked nothing before it. */
async function runOnWorker(
  cluster: RemoteCluster,
  address: string,
  program: string,
  signal: AbortSignal,
): Promise<HostResult> {
  return await eitherWay(cluster, address, signal, throughWithin, async (host, options) => {
    const until = performance.now() + options.within;
    try {
      return await host.sh(program, options);
    } catch (error) {
      const left = until - performance.now();
      if (sshErrors.TooLong.is(error)) return await host.sh(program, { signal: options.signal });
      if (!mayComeUp(error) || left <= 0) throw error;
      // What the first try came to says more than one that the end of the time cuts short.
      await host.connect({ ...options, within: left }).catch((again: unknown) => {
        throw mayComeUp(again) ? error : again;
      });
      return await host.sh(program, { signal: options.signal });
    }
  });
}

interface Attempt {
  readonly signal: AbortSignal;
  readonly within: number;
}

/**
 * Does something on a host by the first way that leads there: directly, and through the head where that takes its time or
 * this machine sees no way. What the direct way fails for is the reason, unless the other way led to the host.
 */
async function eitherWay<Result>(
  cluster: RemoteCluster,
  address: string,
  signal: AbortSignal,
  within: number,
  attempt: (host: Host, options: Attempt) => Promise<Result>,
): Promise<Result> {
  const enough = new AbortController();
  const both = AbortSignal.any([signal, enough.signal]);
  const direct = attempt(cluster.hostOf(address), { signal: both, within: Math.min(within, directWithin) });
  const through = async (): Promise<Result> => {
    const started = wallClock.sleep(headStart, both);
    await Promise.race([started, direct.then(() => started, unlessUnseen)]);
    return await attempt(cluster.hostOf(address, 'head'), { signal: both, within });
  };
  try {
    return await Promise.any([direct, through()]);
  } catch (error) {
    signal.throwIfAborted();
    const [first, second] = (error as AggregateError).errors as readonly unknown[];
    throw (mayComeUp(second) ? first : second) as Error;
  } finally {
    enough.abort();
  }
}

/** Where the host itself refuses, it does so on every way. */
function unlessUnseen(error: unknown): void {
  if (!sshErrors.Unreachable.is(error) && !sshErrors.Timeout.is(error)) throw error;
}

/**
 * Lets the cluster's own key in on these hosts, for its head alone and for nothing but commands. Each host by itself: one
 * that cannot be reached keeps no other from it.
 */
export async function installKey(
  cluster: RemoteCluster,
  addresses: readonly string[],
  key: { readonly publicKey: string; readonly from: readonly string[] },
  onDone: (outcome: KeyOutcome) => void,
  signal: AbortSignal,
): Promise<void> {
  const program = authorizeKeyText(key.publicKey, key.from);
  const install = async (address: string): Promise<KeyOutcome> => {
    try {
      const { code, stderr } = await runOnWorker(cluster, address, program, signal);
      return code === 0 ? { address } : { address, error: new Error(`${address}: ${stderr.trim()}`) };
    } catch (error) {
      signal.throwIfAborted();
      return { address, error: error as Error };
    }
  };
  await Promise.all(addresses.map(async (address) => onDone(await install(address))));
}
