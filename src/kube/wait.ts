import type { EventSink } from '../base/events.ts';
import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { podPath } from '../base/kube/pod.ts';
import type { Clock, Duration } from '../base/time/clock.ts';
import { untilDone } from '../base/time/until-done.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import type { Cause, Headway } from '../core/progress.ts';
import { kubeEvents } from './events.ts';

export interface KubeWait {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly timeout: Duration;
  readonly signal: AbortSignal;
}

/** An object that is waited for. */
export interface WaitedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const pause = 700;
const longestLines = 16 << 10;

/** How long the API server may be away before that ends a wait. */
const patience = 120_000;

/** Waits until an object is what its spec says; throws its first cause when waiting does not help, or is over. */
export async function waitFor(waited: WaitedObject, look: () => Promise<Headway>, waiting: KubeWait): Promise<void> {
  const { clock, events, signal, timeout } = waiting;
  const { kind, name } = waited;
  const id = `${kind}/${name}`;
  let away: number | undefined;
  const last = await untilDone<Cause>({
    look: async () => {
      try {
        const seen = await look();
        away = undefined;
        return seen;
      } catch (error) {
        if (!kubeErrors.Unreachable.is(error) && !kubeErrors.Failed.is(error)) throw error;
        away ??= clock.now();
        if (clock.now() - away > patience) throw error;
        return { state: 'waiting', says: 'the API server does not answer' };
      }
    },
    tell: (seen) => {
      const cause = seen.state === 'done' || seen.cause === undefined ? {} : { cause: seen.cause.says };
      const state = seen.state === 'done' ? 'done' : 'running';
      events.emit(kubeEvents.waiting, { kind, name, says: seen.says, ...cause }, { id, state });
    },
    clock,
    timeout,
    pause,
    signal,
  });
  if (last.state === 'done') return;
  events.emit(kubeEvents.waiting, { kind, name, says: last.says }, { id, state: 'failed' });
  throw await failure(waited, last, waiting);
}

async function failure(
  { kind, namespace, name }: WaitedObject,
  { says, cause }: { readonly says: string; readonly cause?: Cause },
  { client, signal }: KubeWait,
): Promise<Error> {
  if (cause === undefined)
    return manifestErrors.Failed({
      kind,
      name,
      says: `${says} when the time was up`,
      next: 'wait longer with --timeout',
    });
  const lines = cause.logs === undefined ? '' : await lastLines(namespace, cause.logs, client, signal);
  return manifestErrors.Failed({
    kind,
    name,
    says: `${cause.says}${lines === '' ? '' : `\n${lines}`}`,
    next: cause.next,
  });
}

/** Of the container's run before the last restart, or of the one that there was. */
export async function lastLines(
  namespace: string,
  { pod, container }: NonNullable<Cause['logs']>,
  client: KubeClient,
  signal: AbortSignal,
): Promise<string> {
  for (const previous of [true, false]) {
    const path = `${podPath({ namespace, pod })}/log`;
    const query = { container, previous, tailLines: 10, limitBytes: longestLines };
    const call = { path, query, call: `read the log of the pod '${pod}'`, signal };
    // The cause stands without them.
    const lines = (await client.text(call, longestLines).catch(() => '')).trimEnd();
    if (lines !== '') return lines;
  }
  return '';
}
