import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SshTarget } from '../base/ssh/target.ts';
import type { OwnHost } from '../core/spec/local.ts';

export interface ReachedFrom {
  readonly cluster: string;
  /** Folder of the pinned host keys. */
  readonly pins: string;
  /** Folder for the sockets of connections. */
  readonly control: string;
  /** A key of the cluster's own. The head has one and stands among its workers: it goes without their ways in. */
  readonly key?: string;
  /** Way to hosts that this machine does not see. */
  readonly jump?: SshTarget;
}

/** How a host is reached, by what the cluster file says of it. */
export function targetOf(host: OwnHost, from: ReachedFrom): SshTarget {
  const { key: own, jump: through } = from;
  const key = own ?? host.key;
  const inside = own !== undefined || through !== undefined;
  const jump = through ?? (inside || host.jump === undefined ? undefined : jumpTarget(host.jump, from));
  return {
    name: host.name,
    address: host.address,
    ...(host.user !== undefined && { user: host.user }),
    ...(host.port !== undefined && { port: host.port }),
    ...(key !== undefined && { key: key.replace(/^~(?=\/)/, homedir()) }),
    ...(!inside && host.forwardAgent && { forwardAgent: true }),
    ...(!inside && host.proxyCommand !== undefined && { proxyCommand: host.proxyCommand }),
    ...(jump !== undefined && { jump }),
    pin: pinOf(from, host.name),
    control: from.control,
  };
}

/** Keys are pinned by the name of the instance and not by the address; own machines are named by the file. */
function pinOf({ cluster, pins }: ReachedFrom, name: string): SshTarget['pin'] {
  const word = name.replaceAll(/[^\w.-]/g, '_');
  return {
    file: join(pins, `${word}.pin`),
    alias: `manta-${cluster}-${word}`,
    accept: `manta host-key accept -n ${cluster} ${name}`,
  };
}

/** `user@host:port`, as in ssh's own `-J`. */
function jumpTarget(words: string, from: ReachedFrom): SshTarget {
  const form = /^(?:(?<user>[^@]+)@)?(?<host>\[[^\]]+\]|[^:]+)(?::(?<port>\d+))?$/;
  const { user, host = words, port } = form.exec(words)?.groups ?? {};
  const address = host.replace(/^\[|\]$/g, '');
  return {
    name: words,
    address,
    ...(user !== undefined && { user }),
    ...(port !== undefined && { port: Number(port) }),
    pin: pinOf(from, address),
    control: from.control,
  };
}
