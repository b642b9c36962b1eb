import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl } from '../client/links.ts';
import { allPages } from '../client/paging.ts';
import { clusterPrefix, ownAccount } from '../names.ts';
import type { PreparedGoogle } from '../prepared.ts';

export type Made = PreparedGoogle['made'][number];

/**
 * What was made for the cluster, as it was written down. A machine that has the file alone goes by the names that it would have:
 * of those some may not be there.
 */
export async function madeFor(calls: GoogleCalls, signal: AbortSignal): Promise<readonly Made[]> {
  const { prepared, client, project } = calls;
  if (prepared !== undefined) return prepared.made;
  const { email, role } = ownAccount(project, client.cluster, client.clusterId);
  const rules = await rulesNamed(calls, clusterPrefix(client.cluster, client.clusterId), signal);
  return [
    ...rules.map((id) => ({ kind: 'firewall rule' as const, id })),
    { kind: 'service account', id: email },
    { kind: 'role', id: role },
  ];
}

/** Rules of the firewall whose names begin so. */
export async function rulesNamed(calls: GoogleCalls, start: string, signal: AbortSignal): Promise<readonly string[]> {
  const found = await allPages(
    calls,
    'firewalls.list',
    computeUrl(calls.project, 'global/firewalls'),
    { filter: `name : "${start}"` },
    ({ items = [] }) => items as readonly { readonly name: string }[],
    signal,
  );
  return found.map(({ name }) => name).filter((name) => name.startsWith(start));
}
