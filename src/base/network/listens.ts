import { connect } from 'node:net';
import type { Duration } from '../time/clock.ts';

/** Whether a connection to a port is taken. */
export function listens(address: string, port: number, within: Duration = 3_000): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: address, port, timeout: within });
  const done = (answer: boolean): void => {
    socket.destroy();
    resolve(answer);
  };
  socket.on('connect', () => done(true));
  socket.on('error', () => done(false));
  socket.on('timeout', () => done(false));
  return promise;
}
