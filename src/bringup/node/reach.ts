import { homedir } from 'node:os';
import { join } from 'node:path';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import type { SshTarget } from '../../base/ssh/target.ts';
import type { OwnHost } from '../../core/spec/local.ts';

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

/** A host, and what a proxy command is told of it where it is an instance of a cloud. */
export interface ReachableHost extends OwnHost {
  readonly instance?: {
    readonly id: string;
    readonly zone?: string;
    readonly region?: string;
    readonly project?: string;
  };
}

/** How a host is reached, by what the cluster file says of it. */
export function targetOf(host: ReachableHost, from: ReachedFrom): SshTarget {
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
    ...(!inside && host.proxyCommand !== undefined && { proxyCommand: proxyFor(host.proxyCommand, host) }),
    ...(jump !== undefined && { jump }),
    pin: pinOf(from, host.name),
    control: from.control,
  };
}

/**
 * The proxy command, which finds the instance's id, zone, region and project in its environment: MANTA_INSTANCE_ID,
 * MANTA_ZONE, MANTA_REGION and MANTA_PROJECT. ssh replaces `%h` and `%p` before a shell sees any of it.
 */
function proxyFor(command: string, { instance }: ReachableHost): string {
  if (instance === undefined) return command;
  const facts = {
    MANTA_INSTANCE_ID: instance.id,
    MANTA_ZONE: instance.zone,
    MANTA_REGION: instance.region,
    MANTA_PROJECT: instance.project,
  };
  const settings = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${shellQuoted(value.replaceAll('%', '%%'))}`],
  );
  // ssh puts `exec` before it, which takes one program.
  return ['env', ...settings, 'sh', '-c', shellQuoted(`exec ${command}`)].join(' ');
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
