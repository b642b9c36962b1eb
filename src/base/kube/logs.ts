import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { MantaError } from '../errors.ts';
import type { Clock } from '../time/clock.ts';
import { doubling } from '../time/retry.ts';
import type { KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';
import { type PodName, podPath } from './pod.ts';

export interface PodLog extends PodName {
  /** Only this many of the last lines. */
  readonly tailLines?: number | undefined;
  /** That of the container before the last restart. */
  readonly previous?: boolean;
  readonly follow?: boolean;
  readonly signal: AbortSignal;
}

/** The log of a container as it comes. */
export function openPodLog(
  client: KubeClient,
  { follow, tailLines, previous, signal, ...name }: PodLog,
  more: Readonly<Record<string, string | boolean | undefined>> = {},
): Promise<IncomingMessage> {
  return client.stream({
    path: `${podPath(name)}/log`,
    query: { container: name.container, follow, tailLines, previous, ...more },
    call: `read the log of the pod '${name.pod}'`,
    signal,
  });
}

/** How often it is asked for a log that was cut off before it is given up. */
const tries = 8;

/**
 * Lines of a log until the container ends. A connection that is cut goes on where it was: each line carries its time, by which
 * those that were seen are left out. A pod that is gone meanwhile ends it.
 */
export async function* followPodLog(client: KubeClient, log: PodLog, clock: Clock): AsyncGenerator<string> {
  const pause = doubling(200, 5_000);
  let last = '';
  for (let failures = 0; ; ) {
    try {
      const first = last === '';
      const query = { timestamps: true, ...(!first && { sinceTime: `${last.slice(0, 19)}Z` }) };
      const tail = first ? {} : { tailLines: undefined };
      const response = await openPodLog(client, { ...log, ...tail, follow: true }, query);
      for await (const line of createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })) {
        const at = line.indexOf(' ');
        const time = at < 0 ? line : line.slice(0, at);
        if (last !== '' && !first && time <= last) continue;
        last = time;
        failures = 0;
        yield at < 0 ? '' : line.slice(at + 1);
      }
      if (response.complete) return;
    } catch (error) {
      log.signal.throwIfAborted();
      if (last !== '' && kubeErrors.NotFound.is(error)) return;
      const mayPass = kubeErrors.Unreachable.is(error) || kubeErrors.Failed.is(error) || !(error instanceof MantaError);
      if (!mayPass || failures >= tries) throw error;
    }
    failures++;
    await clock.sleep(pause(failures), log.signal);
  }
}
