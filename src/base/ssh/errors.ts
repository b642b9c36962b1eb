import { defineError } from '../errors.ts';

/** Why a machine cannot be reached over SSH, or no longer. The kind chooses what is done: wait, ask the user, attach again. */
export const sshErrors = {
  Refused: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_REFUSED',
    exit: 6,
    message: (e) => `${e.host} refused the SSH connection: ${e.detail}`,
    hint: () => 'check that sshd is running there, on this port',
  }),
  Timeout: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_TIMEOUT',
    exit: 6,
    message: (e) => `the SSH connection to ${e.host} timed out: ${e.detail}`,
    hint: () => 'check that the machine is up and no firewall blocks the connection',
  }),
  Unreachable: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_UNREACHABLE',
    exit: 6,
    message: (e) => `cannot reach ${e.host}: ${e.detail}`,
    hint: () => 'check the address, and that the network or VPN is up',
  }),
  HostKeyChanged: defineError<{
    host: string;
    instance: string;
    file: string;
    pinned: readonly string[];
    offered?: string | undefined;
    accept?: string | undefined;
  }>({
    code: 'MANTA_SSH_HOST_KEY_CHANGED',
    exit: 4,
    message: (e) =>
      `the host key of ${e.host} (instance ${e.instance}) has changed: it offers ${
        e.offered ?? 'a key of another type'
      }, but ${e.file} has ${e.pinned.join(', ') || 'another'}`,
    hint: (e) =>
      `someone may be impersonating this machine; if you reinstalled it, accept the new key with '${
        e.accept ?? `manta host-key accept -n CLUSTER ${e.instance}`
      }'`,
  }),
  AuthFailed: defineError<{ host: string; user?: string | undefined; detail: string; keys: readonly string[] }>({
    code: 'MANTA_SSH_AUTH_FAILED',
    exit: 4,
    message: (e) =>
      `could not log in to ${e.host}${e.user === undefined ? '' : ` as '${e.user}'`} over SSH: ${e.detail}`,
    hint: (e) =>
      `${e.keys.length === 0 ? 'no key was found to offer' : `offered: ${e.keys.join(', ')}`}; check auth.ssh_user and auth.ssh_private_key, or load the key with 'ssh-add'`,
  }),
  Dropped: defineError<{ host: string; during: 'connecting' | 'running'; detail: string }>({
    code: 'MANTA_SSH_DROPPED',
    exit: 6,
    message: (e) =>
      e.during === 'connecting'
        ? `${e.host} closed the SSH connection while connecting: ${e.detail}`
        : `lost the SSH connection to ${e.host} while a program was running there: ${e.detail}`,
    hint: (e) => (e.during === 'connecting' ? 'the machine may still be starting; try again' : 'try again'),
  }),
  TooLong: defineError<{ host: string; seconds: number }>({
    code: 'MANTA_SSH_TOO_LONG',
    exit: 6,
    message: (e) => `a program on ${e.host} did not finish within ${e.seconds} s`,
    hint: () => 'the machine may be overloaded, or its disk may hang',
  }),
  NoClient: defineError<{ program: string }>({
    code: 'MANTA_SSH_NO_CLIENT',
    exit: 3,
    message: (e) => `'${e.program}' is not installed on this machine`,
    hint: () => 'install the OpenSSH client (package openssh-client or openssh-clients)',
  }),
  ClientFailed: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_CLIENT_FAILED',
    exit: 6,
    message: (e) => `ssh to ${e.host} failed: ${e.detail}`,
    hint: () => "check the settings that 'ssh -G HOST' shows",
  }),
  NoShell: defineError<{ host: string; code: number; said: string }>({
    code: 'MANTA_SSH_NO_SHELL',
    exit: 4,
    message: (e) => `logged in to ${e.host}, but it runs no commands: ${e.said || 'no output'} (exit code ${e.code})`,
    hint: () => 'the user needs a normal login shell there, and a key that is not restricted to one command',
  }),
  ForwardFailed: defineError<{ host: string; socket: string; detail: string }>({
    code: 'MANTA_SSH_FORWARD_FAILED',
    exit: 6,
    message: (e) => `cannot open the tunnel from ${e.socket} to ${e.host}: ${e.detail}`,
    hint: () => 'sshd there must allow forwarding (AllowTcpForwarding, AllowStreamLocalForwarding)',
  }),
  NotWritten: defineError<{ host: string; path: string; detail: string }>({
    code: 'MANTA_SSH_NOT_WRITTEN',
    exit: 1,
    message: (e) => `could not write '${e.path}' on ${e.host}: ${e.detail}`,
  }),
  BadAddress: defineError<{ address: string }>({
    code: 'MANTA_SSH_BAD_ADDRESS',
    exit: 2,
    message: (e) => `'${e.address}' is not a valid SSH address, user or host name`,
    hint: () => 'give an IP address, a DNS name or a host from ~/.ssh/config; set the user in auth.ssh_user',
  }),
  ControlFolder: defineError<{ folder: string }>({
    code: 'MANTA_SSH_CONTROL_FOLDER',
    exit: 4,
    message: (e) => `'${e.folder}' is not a private folder of this user, so SSH connections cannot be shared there`,
    hint: (e) => `run chmod 700 '${e.folder}' if it is yours, or delete it`,
  }),
  PinFile: defineError<{ file: string; detail: string }>({
    code: 'MANTA_SSH_PIN_FILE',
    exit: 4,
    message: (e) => `cannot save the host key in '${e.file}': ${e.detail}`,
    hint: () => 'Manta does not connect without it, because any machine could impersonate this one',
  }),
};

/** Waiting helps: the machine may be on its way. */
export const mayComeUp = (error: unknown): boolean =>
  sshErrors.Refused.is(error) ||
  sshErrors.Timeout.is(error) ||
  sshErrors.Unreachable.is(error) ||
  sshErrors.Dropped.is(error);
