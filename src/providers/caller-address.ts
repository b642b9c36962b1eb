import { isIP } from 'node:net';
import { readWhole } from '../base/read-whole.ts';
import type { CommandEnvironment } from './descriptor.ts';

const usualUrl = 'https://checkip.amazonaws.com';
const deadline = 2_000;
/** Longer than any address: what answers instead, such as a page to sign in to a network, is not read. */
const longest = 64;

/**
 * The address from which the internet sees this machine; undefined where it cannot be learned. `MANTA_CHECKIP_URL` names
 * another place to ask; empty: it is not asked for.
 */
export async function callerAddress({
  env,
  signal,
}: {
  readonly env: CommandEnvironment;
  readonly signal: AbortSignal;
}): Promise<string | undefined> {
  const url = env['MANTA_CHECKIP_URL'] ?? usualUrl;
  if (url === '') return undefined;
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(deadline)]) });
    const text = answer.ok && answer.body ? (await readWhole(answer.body, longest)).toString().trim() : '';
    return isIP(text) === 0 ? undefined : text;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
