import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect as connectSocket } from 'node:net';
import { promisify } from 'node:util';
import type { Clock } from '../time/clock.ts';
import { retry } from '../time/retry.ts';
import { sshArguments } from './arguments.ts';
import { controlPath, tunnelPath } from './control.ts';
import { sshErrors } from './errors.ts';
import type { SshTarget } from './target.ts';

const run = promisify(execFile);

interface ForwardEdge {
  readonly client: string;
  readonly clock: Clock;
  /** Makes the master connection where there is none. */
  readonly connect: (signal: AbortSignal) => Promise<unknown>;
}

export interface SocketForward {
  /** Its end here. */
  readonly path: string;
  /** Resolves when it stands, as far as is known. */
  stands(signal: AbortSignal): Promise<void>;
  end(): Promise<void>;
}

/** Where a tunnel leads to, as ssh writes it. */
export const farEnd = (remote: { readonly port: number } | { readonly socket: string }): string =>
  'port' in remote ? `127.0.0.1:${remote.port}` : remote.socket;

/** A tunnel through the master connection, made again whenever that is lost. Resolves when it stands for the first time. */
export async function forwardThrough(
  target: SshTarget,
  edge: ForwardEdge,
  far: string,
  signal: AbortSignal,
): Promise<SocketForward> {
  const control = controlPath(target);
  const path = tunnelPath(control);
  const order = (what: 'forward' | 'cancel'): Promise<unknown> =>
    run(edge.client, [...sshArguments(target), '-O', what, '-L', `${path}:${far}`, '--', target.address]);
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  let held: Socket | undefined;

  const stand = async (during: AbortSignal): Promise<Socket> => {
    await edge.connect(during);
    const master = await holdMaster(control).catch((error: unknown) => {
      const detail = 'the shared connection has just closed';
      throw sshErrors.Dropped({ host: target.name, during: 'connecting', detail }, error);
    });
    try {
      await order('forward');
    } catch (error) {
      master.destroy();
      const detail = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
      throw sshErrors.ForwardFailed({ host: target.name, socket: path, detail }, error);
    }
    return master;
  };

  /** Another command may end the connection between two steps. */
  const standFirst = (): Promise<Socket> =>
    retry(() => stand(both), {
      clock: edge.clock,
      signal: both,
      pause: (tries) => 50 * tries,
      again: (error, tries) => tries < firstTries && isOfMaster(error),
    });

  const keep = async (): Promise<void> => {
    for (let pause = 50; !ending.signal.aborted; ) {
      if (held && !held.destroyed) {
        await new Promise<void>((resolve) => {
          held?.once('close', resolve);
          ending.signal.addEventListener('abort', () => resolve(), { once: true });
        });
        pause = 50;
        continue;
      }
      try {
        held = await stand(ending.signal);
      } catch {
        await edge.clock.sleep(pause, ending.signal).catch(() => {});
        pause = Math.min(pause * 2, 1_000);
      }
    }
  };

  const isUp = (): boolean => held?.destroyed === false;
  held = await standFirst();
  const kept = keep();
  return {
    path,
    async stands(during) {
      while (!isUp()) await edge.clock.sleep(20, during);
    },
    async end() {
      ending.abort();
      held?.destroy();
      // Where the socket of the master is gone, so is the tunnel; asking would make the folder of both again.
      await Promise.all([kept, existsSync(control) ? order('cancel').catch(() => {}) : undefined]);
      rmSync(path, { force: true });
    },
  };
}

const firstTries = 4;

const isOfMaster = (error: unknown): boolean => sshErrors.Dropped.is(error) || sshErrors.ForwardFailed.is(error);

/**
 * An open connection to the master's socket: as long as it is held the master does not leave for want of use, and when
 * the master is gone it closes.
 */
async function holdMaster(path: string): Promise<Socket> {
  const socket = connectSocket(path);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  socket.resume();
  socket.unref();
  return socket;
}
