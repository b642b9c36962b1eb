import { defineError } from '../errors.ts';

/** Why a machine cannot be reached over SSH, or no longer. The kind chooses what is done: wait, ask the user, attach again. */
export const sshErrors = {
  Refused: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_REFUSED',
    exit: 6,
    message: (e) => `${e.host} refuses the SSH connection: ${e.detail}`,
    hint: () => 'is sshd running there, and on this port?',
  }),
  Timeout: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_TIMEOUT',
    exit: 6,
    message: (e) => `${e.host} does not answer on its SSH port: ${e.detail}`,
    hint: () => 'is the machine up, and does a firewall let this machine through?',
  }),
  Unreachable: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SSH_UNREACHABLE',
    exit: 6,
    message: (e) => `there is no way to ${e.host}: ${e.detail}`,
    hint: () => 'is the address right, and is the network or VPN up?',
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
      `the host key of ${e.host} (instance ${e.instance}) is another than before: it shows ${
        e.offered ?? 'a key of another type'
      }, while ${e.file} has ${e.pinned.join(', ') || 'another'}`,
    hint: (e) =>
      `somebody may be posing as this machine; if it was installed again, '${
        e.accept ?? `manta host-key accept -n CLUSTER ${e.instance}`
      }' takes the new key`,
  }),
  AuthFailed: defineError<{ host: string; user?: string | undefined; detail: string; keys: readonly string[] }>({
    code: 'MANTA_SSH_AUTH_FAILED',
    exit: 4,
    message: (e) => `${e.host} does not let ${e.user === undefined ? 'you' : `the user '${e.user}'`} in: ${e.detail}`,
    hint: (e) =>
      `${e.keys.length === 0 ? 'no key was found to offer' : `offered: ${e.keys.join(', ')}`}; check auth.ssh_user and auth.ssh_private_key, or load the key with 'ssh-add'`,
  }),
  Dropped: defineError<{ host: string; during: 'connecting' | 'running'; detail: string }>({
    code: 'MANTA_SSH_DROPPED',
    exit: 6,
    message: (e) =>
      e.during === 'connecting'
        ? `${e.host} closed the SSH connection before it stood: ${e.detail}`
        : `the SSH connection to ${e.host} was lost while a program ran there: ${e.detail}`,
    hint: (e) => (e.during === 'connecting' ? 'it may still be starting; run this again' : 'run this again'),
  }),
  TooLong: defineError<{ host: string; seconds: number }>({
    code: 'MANTA_SSH_TOO_LONG',
    exit: 6,
    message: (e) => `a program on ${e.host} did not end within ${e.seconds} s`,
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
    hint: () => "is what 'ssh -G HOST' shows what you mean?",
  }),
  NoShell: defineError<{ host: string; code: number; said: string }>({
    code: 'MANTA_SSH_NO_SHELL',
    exit: 4,
    message: (e) =>
      `${e.host} lets the user in but runs no program: ${e.said || 'it says nothing'} (exit code ${e.code})`,
    hint: () => 'the user needs an ordinary login shell there, and a key that is not bound to one command',
  }),
  ForwardFailed: defineError<{ host: string; socket: string; detail: string }>({
    code: 'MANTA_SSH_FORWARD_FAILED',
    exit: 6,
    message: (e) => `the tunnel from ${e.socket} to ${e.host} cannot be opened: ${e.detail}`,
    hint: () => 'sshd there must allow forwarding (AllowTcpForwarding, AllowStreamLocalForwarding)',
  }),
  NotWritten: defineError<{ host: string; path: string; detail: string }>({
    code: 'MANTA_SSH_NOT_WRITTEN',
    exit: 1,
    message: (e) => `'${e.path}' could not be written on ${e.host}: ${e.detail}`,
  }),
  BadAddress: defineError<{ address: string }>({
    code: 'MANTA_SSH_BAD_ADDRESS',
    exit: 2,
    message: (e) => `'${e.address}' is no address, user or name for SSH`,
    hint: () => 'give an IP address, a DNS name or a host of ~/.ssh/config; the user stands in auth.ssh_user',
  }),
  ControlFolder: defineError<{ folder: string }>({
    code: 'MANTA_SSH_CONTROL_FOLDER',
    exit: 4,
    message: (e) => `'${e.folder}' is not a private folder of this user: connections are not kept there`,
    hint: (e) => `chmod 700 '${e.folder}' if it is yours, or remove it`,
  }),
  PinFile: defineError<{ file: string; detail: string }>({
    code: 'MANTA_SSH_PIN_FILE',
    exit: 4,
    message: (e) => `the host key cannot be kept in '${e.file}': ${e.detail}`,
    hint: () => 'without it no connection is made: any machine could pose as this one',
  }),
};

/** Waiting helps: the machine may be on its way. */
export const mayComeUp = (error: unknown): boolean =>
  sshErrors.Refused.is(error) ||
  sshErrors.Timeout.is(error) ||
  sshErrors.Unreachable.is(error) ||
  sshErrors.Dropped.is(error);
