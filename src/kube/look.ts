import type { KubeClient } from '../base/kube/client.ts';
import { kubeErrors } from '../base/kube/errors.ts';
import { listAll } from '../base/kube/list.ts';
import type { KubeFacts, Seen } from '../core/kube/check.ts';
import { type Json, listAt, textAt } from '../core/kube/object.ts';
import { type Permission, permissions } from '../core/kube/permissions.ts';

/** Asks an API server for everything that `manta kube check` judges. Throws where the server itself cannot be used. */
export async function lookAtCluster(client: KubeClient, signal: AbortSignal): Promise<KubeFacts> {
  const { server, context, namespace } = client.access;
  const get = async (path: string, call: string): Promise<Json> => (await client.json({ path, call, signal })) as Json;
  const list = (path: string, call: string, query: Readonly<Record<string, string>> = {}) =>
    visible(async () => (await listAll(client, { path, call, query, signal })).items as readonly Json[]);
  // First alone: a login that does not work is told once.
  const user = await whoAmI(client, signal);
  const inside = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const [version, missing, rayResources, operators, nodes, quotas, storageClasses, namespaceObject] = await Promise.all(
    [
      get('/version', 'read the version of the API server'),
      missingPermissions(client, signal),
      orNothing(get('/apis/ray.io/v1', 'list the kinds of ray.io/v1')),
      list('/apis/apps/v1/deployments', 'list deployments', {
        labelSelector: 'app.kubernetes.io/name=kuberay-operator',
      }),
      list('/api/v1/nodes', 'list nodes'),
      list(`${inside}/resourcequotas`, `list quotas in the namespace '${namespace}'`),
      list('/apis/storage.k8s.io/v1/storageclasses', 'list storage classes'),
      visible(() => orNothing(get(inside, `read the namespace '${namespace}'`))),
    ],
  );
  return {
    server,
    context,
    namespace,
    user,
    version: textAt(version, 'gitVersion') ?? 'of unknown version',
    missing,
    rayResources: listAt(rayResources, 'resources').map((each) => textAt(each, 'name') ?? ''),
    operators,
    nodes,
    quotas,
    storageClasses,
    namespaceObject,
  };
}

/** What the user may see, or that it may not be seen. */
async function visible<Value>(look: () => Promise<Value>): Promise<Seen<Value>> {
  try {
    return { value: await look() };
  } catch (error) {
    if (kubeErrors.Forbidden.is(error)) return { denied: error.data.call };
    throw error;
  }
}

const orNothing = (answer: Promise<Json>): Promise<Json | undefined> =>
  answer.catch((error: unknown) => {
    if (kubeErrors.NotFound.is(error)) return undefined;
    throw error;
  });

async function whoAmI(client: KubeClient, signal: AbortSignal): Promise<string> {
  const answer = await client.json({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    call: 'ask who you are',
    signal,
  });
  return textAt(answer as Json, 'status', 'userInfo', 'username') ?? 'unknown';
}

/** Asks for each permission by itself: a list of all rules is incomplete where a webhook decides. */
async function missingPermissions(client: KubeClient, signal: AbortSignal): Promise<KubeFacts['missing']> {
  const wanted = permissions.flatMap((each) =>
    each.resources.flatMap((resource) => each.verbs.map((verb) => ({ ...each, resource, verb }))),
  );
  const answers = await Promise.all(wanted.map((each) => isAllowed(client, each, signal)));
  return wanted
    .filter((_, at) => !answers[at])
    .map(({ group, resource, verb, for: use }) => ({ group, resource, verb, for: use }));
}

async function isAllowed(
  client: KubeClient,
  { group, resource: named, verb }: Pick<Permission, 'group'> & { readonly resource: string; readonly verb: string },
  signal: AbortSignal,
): Promise<boolean> {
  const [resource, subresource] = named.split('/');
  const { namespace } = client.access;
  const answer = await client.json({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, verb, group, resource, ...(subresource && { subresource }) } },
    },
    call: 'ask what you may do',
    signal,
  });
  return (answer as { readonly status?: { readonly allowed?: boolean } }).status?.allowed === true;
}
