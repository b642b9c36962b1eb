import { doubling, retry } from '../../../base/time/retry.ts';
import { providerErrors } from '../../errors.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl } from '../client/links.ts';
import { googleFailure } from '../client/refusals.ts';
import { type Made, madeFor } from './made.ts';

const iam = 'https://iam.googleapis.com/v1';
const osLogin = 'https://oslogin.googleapis.com/v1';
const resources = 'https://cloudresourcemanager.googleapis.com/v1';

/** A role goes after the accounts that have it. */
const order: readonly Made['kind'][] = ['firewall rule', 'ssh key', 'service account', 'role'];

/** Where what was made is asked for and deleted. */
export function urlOf(project: string, { kind, id }: Made): string {
  switch (kind) {
    case 'firewall rule':
      return computeUrl(project, `global/firewalls/${id}`);
    case 'service account':
      return `${iam}/projects/${project}/serviceAccounts/${id}`;
    case 'role':
      return `${iam}/${id}`;
    case 'ssh key':
      return `${osLogin}/${id}`;
  }
}

/** Deletes what was made for the cluster; what cannot be deleted stays, and `remains` names it. */
export async function releaseMade(calls: GoogleCalls, signal: AbortSignal): Promise<void> {
  const { google, project } = calls;
  const made = await madeFor(calls, signal);
  for (const kind of order)
    for (const each of made.filter((one) => one.kind === kind)) {
      if (kind === 'service account') await left(() => unbind(calls, `serviceAccount:${each.id}`, signal));
      const request = { method: 'DELETE', url: urlOf(project, each) } as const;
      await left(() => google.askPatiently({ call: `delete ${kind}`, id: each.id }, request, signal));
    }
}

/** Does what may be refused. That it did not happen is told by looking; that Google did not answer is an error. */
async function left(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!providerErrors.NotFound.is(error) && !providerErrors.Denied.is(error)) throw error;
  }
}

interface Policy {
  readonly etag?: string;
  readonly bindings?: readonly { readonly role: string; readonly members: readonly string[] }[];
}

/** Takes an account out of the project's policy, where it would stay as a deleted one. */
async function unbind({ google, clock, project }: GoogleCalls, member: string, signal: AbortSignal): Promise<void> {
  const url = `${resources}/projects/${project}`;
  const once = async (): Promise<void> => {
    // Without the version bindings with conditions come without them, and would be written back so.
    const body = { options: { requestedPolicyVersion: 3 } };
    const get = { method: 'POST', url: `${url}:getIamPolicy`, body } as const;
    const policy = await google.askPatiently<Policy>({ call: 'projects.getIamPolicy' }, get, signal);
    const { bindings = [] } = policy;
    if (!bindings.some(({ members }) => members.includes(member))) return;
    const without = bindings
      .map((binding) => ({ ...binding, members: binding.members.filter((each) => each !== member) }))
      .filter(({ members }) => members.length > 0);
    const set = {
      method: 'POST',
      url: `${url}:setIamPolicy`,
      body: { policy: { ...policy, bindings: without } },
    } as const;
    await google.askPatiently({ call: 'projects.setIamPolicy' }, set, signal);
  };
  await retry(once, {
    clock,
    signal,
    pause: doubling(250, 4_000),
    again: (error, tries) => googleFailure(error)?.status === 409 && tries < 10,
  });
}
