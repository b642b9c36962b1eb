import { messageOf } from '../../base/errors.ts';
import { sshErrors } from '../../base/ssh/errors.ts';
import type { HostPool } from '../../core/spec/local.ts';
import { providerErrors } from '../errors.ts';

/** Why a host was not to be had. */
export interface Reason {
  readonly text: string;
  /** The host does not let Manta in. */
  readonly denied?: boolean;
}

/** Why each host of a pool was not to be had, the first few by name. Where no host lets Manta in, waiting does not help. */
export function refusalOf({ type, hosts }: HostPool, reasons: ReadonlyMap<string, Reason>): Error {
  const most = 5;
  const each = hosts.map(({ name }) => {
    const text = reasons.get(name)?.text ?? 'not asked';
    return text.startsWith(name) ? text : `${name}: ${text}`;
  });
  const more = each.length > most ? `; and ${each.length - most} more` : '';
  const detail = each.length === 0 ? 'the pool has no hosts' : `${each.slice(0, most).join('; ')}${more}`;
  const denied = hosts.length > 0 && hosts.every(({ name }) => reasons.get(name)?.denied);
  return denied ? providerErrors.Denied({ call: 'launch', detail }) : providerErrors.NoCapacity({ type, detail });
}

export const isDenial = (error: unknown): boolean =>
  sshErrors.AuthFailed.is(error) || sshErrors.HostKeyChanged.is(error);

/** What went wrong with a host, in words. */
export const reasonOf = (error: unknown): string => {
  if (sshErrors.AuthFailed.is(error)) return `${error.message}; run 'manta up' to install the cluster's key there`;
  return messageOf(error);
};
