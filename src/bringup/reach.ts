import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SshTarget } from '../base/ssh/target.ts';
import type { OwnHost } from '../core/spec/local.ts';

export interface ReachedFrom {
  readonly cluster: string;
  /** Folder of the pinned host keys. */
  readonly pins: string;
  /** A key of the cluster's own. The head has one and stands among its workers: it goes without their ways in. */
  readonly key?: string;
  /** Way to hosts that this machine does not see. */
  readonly jump?: SshTarget;
}

/** How a host is reached, by what the cluster file says of it. */
export function targetOf(host: OwnHost, { cluster, pins, key: own, jump: through }: ReachedFrom): SshTarget {
  const key = own ?? host.key;
  const inside = own !== undefined || through !== undefined;
  const jump = through ?? (inside || host.jump === undefined ? undefined : jumpTarget(host.jump, cluster, pins));
  return {
    name: host.name,
    address: host.address,
    ...(host.user !== undefined && { user: host.user }),
    ...(host.port !== undefined && { port: host.port }),
    ...(key !== undefined && { key: key.replace(/^~(?=\/)/, homedir()) }),
    ...(!inside && host.proxyCommand !== undefined && { proxyCommand: host.proxyCommand }),
    ...(jump !== undefined && { jump }),
    pin: pinOf(pins, cluster, host.name),
  };
}

/** Keys are pinned by the name of the instance and not by the address; own machines are named by the file. */
function pinOf(folder: string, cluster: string, name: string): SshTarget['pin'] {
  const word = name.replaceAll(/[^\w.-]/g, '_');
  return { file: join(folder, `${word}.pin`), alias: `manta-${cluster}-${word}` };
}

/** `user@host:port`, as in ssh's own `-J`. */
function jumpTarget(words: string, cluster: string, pins: string): SshTarget {
  const form = /^(?:(?<user>[^@]+)@)?(?<host>\[[^\]]+\]|[^:]+)(?::(?<port>\d+))?$/;
  const { user, host = words, port } = form.exec(words)?.groups ?? {};
  const address = host.replace(/^\[|\]$/g, '');
  return {
    name: words,
    address,
    ...(user !== undefined && { user }),
    ...(port !== undefined && { port: Number(port) }),
    pin: pinOf(pins, cluster, address),
  };
}
