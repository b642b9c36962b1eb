import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../errors.ts';
import { listensAt } from '../network/loopback.ts';
import type { Clock } from '../time/clock.ts';
import { doubling, retry } from '../time/retry.ts';
import { Channels } from './channels.ts';
import type { KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';
import { type PodName, podPath } from './pod.ts';

/** A connection to a port of a pod, as from the pod itself. What the far end says of a failure destroys it. */
export async function connectToPod(
  client: KubeClient,
  to: PodName & { readonly port: number },
  signal: AbortSignal,
): Promise<Duplex> {
  const call = `reach port ${to.port} of the pod '${to.pod}'`;
  const request = { path: `${podPath(to)}/portforward`, query: { ports: to.port }, call, signal };
  const socket = await client.upgrade(request, ['v4.channel.k8s.io']);
  const channels = new Channels(socket);
  const [reading, writing] = [channels.readable(0), channels.writable(0)];
  // Each channel begins with the number of the port, which may come alone or with bytes behind it.
  const [data, failure] = [new Skip(2), new Skip(2)];
  let said = '';
  channels.on(1, (bytes) => {
    said += failure.rest(bytes).toString();
    if (said !== '') socket.close();
  });
  socket.once('close', () => reading.push(null));
  const duplex = new Duplex({
    allowHalfOpen: false,
    read: () => void reading.resume(),
    write: (bytes: Buffer, _, done) => void writing.write(bytes, done),
    destroy: (error, done) => {
      socket.terminate();
      done(error);
    },
    // The protocol cannot end one direction: what was sent has arrived, and the answer may still come.
    final: (done) => done(),
  });
  reading.on('data', (bytes: Buffer) => {
    const rest = data.rest(bytes);
    if (rest.length > 0 && !duplex.push(rest)) reading.pause();
  });
  reading.once('end', () => {
    if (said === '') duplex.push(null);
    else duplex.destroy(kubeErrors.Failed({ call, detail: said.trim(), status: 0 }));
  });
  channels.start();
  return duplex;
}

class Skip {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  rest(bytes: Buffer): Buffer {
    const skipped = Math.min(this.#left, bytes.length);
    this.#left -= skipped;
    return bytes.subarray(skipped);
  }
}

export interface ForwardRequest {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Which pod it is now. Asked again whenever the one before did not answer. */
  readonly pod: (signal: AbortSignal) => Promise<PodName>;
  readonly port: number;
  /** A socket of this user alone, or a port of this machine. */
  readonly here: { readonly path: string } | { readonly port: number; readonly host: string };
  /** Why a connection did not come about, or broke. */
  readonly onFailure?: (error: Error) => void;
  readonly signal: AbortSignal;
}

export interface PodForward {
  readonly server: Server;
  /** For the next connection it is asked again which pod it is. */
  forget(): void;
  close(): void;
}

/** How long a pod that answers counts as the one that is meant: a RayService moves to another cluster and the old one stays. */
const askEvery = 5_000;

/** How long a connection waits for a pod that is being replaced. */
const tries = 6;

/** How long the far end may take to say something after the one here has ended its side. */
const silentFor = 15_000;

/**
 * Lets connections through to a port of a pod until the signal aborts. Each gets a connection of its own to whichever pod it is
 * then. Undefined where somebody else listens here already.
 */
export async function forwardToPod(request: ForwardRequest): Promise<PodForward | undefined> {
  const { here, signal } = request;
  const open = new Set<Socket>();
  const route = new PodRoute(request);
  const server = createServer({ allowHalfOpen: true }, (near) => {
    open.add(near);
    near.once('close', () => open.delete(near));
    near.on('error', () => {});
    carry(near, route).catch((error: unknown) => {
      near.destroy();
      if (!signal.aborted) request.onFailure?.(error instanceof Error ? error : new Error(messageOf(error)));
    });
  });
  if (!(await listensAt(server, here))) return undefined;
  if ('path' in here) chmodSync(here.path, 0o600);
  const close = (): void => {
    signal.removeEventListener('abort', close);
    server.close();
    for (const near of open) near.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  return { server, forget: () => route.forget(), close };
}

async function carry(near: Socket, route: PodRoute): Promise<void> {
  const far = await route.connect();
  if (near.destroyed) return void far.destroy();
  near.once('end', () => endWhenSilent(far));
  try {
    await Promise.all([pipeline(near, far, { end: false }), pipeline(far, near)]);
  } catch (error) {
    if (kubeErrors.Failed.is(error)) route.forget();
    if (!near.destroyed || kubeErrors.Failed.is(error)) throw error;
  } finally {
    far.destroy();
  }
}

/** The one here has ended its side, which the protocol cannot tell the pod: it has likely gone, unless an answer still comes. */
function endWhenSilent(far: Duplex): void {
  const silence = setTimeout(() => far.destroy(), silentFor).unref();
  far.on('data', () => silence.refresh()).once('close', () => clearTimeout(silence));
}

/** Remembers the pod for a while: asking costs requests. */
class PodRoute {
  readonly #request: ForwardRequest;
  #pod: Promise<PodName> | undefined;
  #askedAt = 0;

  constructor(request: ForwardRequest) {
    this.#request = request;
  }

  forget(): void {
    this.#pod = undefined;
  }

  /** Nothing has been sent before it resolves, so trying again is safe. */
  connect(): Promise<Duplex> {
    const { client, clock, port, pod, signal } = this.#request;
    return retry(
      async () => {
        if (clock.now() - this.#askedAt >= askEvery) this.forget();
        if (this.#pod === undefined) this.#askedAt = clock.now();
        this.#pod ??= pod(signal);
        try {
          return await connectToPod(client, { ...(await this.#pod), port }, signal);
        } catch (error) {
          this.forget();
          throw error;
        }
      },
      {
        clock,
        signal,
        pause: doubling(250, 5_000),
        again: (error, tried) => tried < tries && !kubeErrors.Forbidden.is(error) && !kubeErrors.LoginRefused.is(error),
      },
    );
  }
}
