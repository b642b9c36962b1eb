import { readShell } from '../src/base/shell/shell-file.ts';
import type { LabHost } from './host.ts';
import { endProcess, identify, type LabProcess } from './processes.ts';

const startSshd = readShell(new URL('./start-sshd.sh', import.meta.url));

const isListener = ({ command }: LabProcess): boolean =>
  command[0]?.startsWith('sshd: ') === true && command[0].includes('[listener]');
const isSession = ({ command }: LabProcess): boolean =>
  command[0]?.startsWith('sshd: ') === true && !command[0].includes('[listener]');

/** Ends every open connection, also one in its handshake; what was started over it is not told. */
export async function dropSessions(host: LabHost): Promise<number> {
  const sessions = host.processes().filter(isSession);
  await end(sessions);
  return sessions.length;
}

/** Nobody listens any more: new connections are refused, open ones stay. */
export async function stopListening(host: LabHost): Promise<void> {
  await end(host.processes().filter(isListener));
}

export async function startListening(host: LabHost): Promise<void> {
  if (host.processes().some(isListener)) return;
  await host.must(startSshd, { user: 'root' });
}

/** The host as if it was installed again: the address is the same, the key is not. */
export async function changeHostKey(host: LabHost): Promise<void> {
  const key = '/etc/ssh/ssh_host_ed25519_key';
  await host.must(`rm -f ${key} ${key}.pub && ssh-keygen -q -t ed25519 -N '' -f ${key}`, { user: 'root' });
  await stopListening(host);
  await startListening(host);
}

async function end(processes: readonly LabProcess[]): Promise<void> {
  const found = processes.flatMap(({ pid }) => identify(pid) ?? []);
  await Promise.all(found.map(endProcess));
}
