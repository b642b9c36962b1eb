import { spawn, spawnSync } from 'node:child_process';
import type { Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ProcessIdentity } from '../processes.ts';

export interface ListenAt {
  readonly address: string;
  readonly port: number;
  /** The switch does not have the address yet. @default false */
  readonly add?: boolean;
}

/**
 * Listens in the network of a lab's switch, from this process: a child that enters that network opens the sockets and
 * hands them over. Whoever connects is seen by its true address.
 */
export async function listenOnSwitch(keeper: ProcessIdentity, at: readonly ListenAt[]): Promise<readonly Server[]> {
  const enter = ['--target', String(keeper.pid), '--net', '--'];
  // It may be there from an earlier cloud on this switch.
  for (const { address } of at.filter(({ add }) => add))
    spawnSync('nsenter', [...enter, 'ip', 'address', 'add', `${address}/32`, 'dev', 'lo'], { stdio: 'ignore' });
  const program = fileURLToPath(new URL('./listen-inside.ts', import.meta.url));
  const child = spawn('nsenter', [...enter, process.execPath, program, JSON.stringify(at)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const servers: Server[] = [];
  await new Promise<void>((resolve, reject) => {
    child.on('message', (_, handle) => {
      if (servers.push(handle as Server) === at.length) resolve();
    });
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`cannot listen on the switch: ${said.trim() || 'nothing was said'}`)));
  });
  child.removeAllListeners('exit');
  child.disconnect();
  return servers;
}
