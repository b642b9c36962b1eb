import { entriesAt, type Json, listAt, nameOf, namespaceOf, numberAt, textAt } from './object.ts';
import type { Permission } from './permissions.ts';
import { bytesText, readQuantity } from './quantity.ts';

/** What was asked and may not be seen is `denied`: users of one namespace have no rights beyond it. */
export type Seen<Value> = { readonly value: Value } | { readonly denied: string };

/** Everything that `manta kube check` looks at, as the API server answered it. */
export interface KubeFacts {
  readonly server: string;
  readonly context: string;
  readonly namespace: string;
  readonly user: string;
  /** `/version`. */
  readonly version: string;
  /** What the user may not do, of what Manta's commands need. */
  readonly missing: readonly (Omit<Permission, 'resources' | 'verbs'> & {
    readonly resource: string;
    readonly verb: string;
  })[];
  /** Resources of the group `ray.io/v1`; empty where the server does not know the group. */
  readonly rayResources: readonly string[];
  readonly operators: Seen<readonly Json[]>;
  readonly nodes: Seen<readonly Json[]>;
  readonly quotas: Seen<readonly Json[]>;
  readonly storageClasses: Seen<readonly Json[]>;
  readonly namespaceObject: Seen<Json | undefined>;
}

export interface CheckLine {
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly says: string;
  /** What to do about it; there for every line that is not ok. */
  readonly next?: string;
}

/** One line for each thing that Ray on this cluster depends on, in the order in which they have to be put right. */
export function checkCluster(facts: KubeFacts): readonly CheckLine[] {
  return [
    {
      what: 'API server',
      state: 'ok',
      says: `${facts.server}, Kubernetes ${facts.version}, context '${facts.context}'`,
    },
    checkNamespace(facts),
    checkPermissions(facts),
    checkKinds(facts),
    ...checkOperators(facts),
    ...seen('nodes', facts.nodes, checkNodes),
    ...seen('nodes', facts.nodes, checkAccelerators, 'silent'),
    ...seen('quota', facts.quotas, (quotas) => checkQuotas(quotas, facts.namespace)),
    ...seen('storage', facts.storageClasses, checkStorage),
    ...seen('pod security', facts.namespaceObject, (object) => checkSecurity(object, facts.namespace)),
  ];
}

function seen<Value>(
  what: string,
  fact: Seen<Value>,
  check: (value: Value) => readonly CheckLine[],
  denied?: 'silent',
): readonly CheckLine[] {
  if ('value' in fact) return check(fact.value);
  if (denied === 'silent') return [];
  const next = 'nothing, unless something fails; an administrator can run this check';
  return [{ what, state: 'unknown', says: `you are not allowed to see this (${fact.denied})`, next }];
}

function checkNamespace({ namespace, user, namespaceObject }: KubeFacts): CheckLine {
  const says = `'${namespace}', as the user '${user}'`;
  if ('value' in namespaceObject && namespaceObject.value === undefined)
    return {
      what: 'namespace',
      state: 'failed',
      says: `there is no namespace '${namespace}'`,
      next: `create it with 'kubectl create namespace ${namespace}', or choose another with --namespace`,
    };
  return { what: 'namespace', state: 'ok', says };
}

function checkPermissions({ missing, namespace }: KubeFacts): CheckLine {
  if (missing.length === 0)
    return { what: 'permissions', state: 'ok', says: `everything that Manta needs is allowed in '${namespace}'` };
  const groups = Map.groupBy(missing, ({ resource }) => resource);
  const list = [...groups].map(([resource, each]) => `${each.map(({ verb }) => verb).join('/')} ${resource}`);
  return {
    what: 'permissions',
    state: 'failed',
    says: `you may not ${list.join(', ')} in '${namespace}' (needed for: ${[...new Set(missing.map((each) => each.for))].join('; ')})`,
    next: "ask an administrator for the Role that 'manta kube check --rbac' prints",
  };
}

const neededKinds = ['rayclusters', 'rayjobs', 'rayservices'];

function checkKinds({ rayResources }: KubeFacts): CheckLine {
  const absent = neededKinds.filter((kind) => !rayResources.includes(kind));
  const cron = rayResources.includes('raycronjobs') ? '' : '; raycronjobs need KubeRay 1.6';
  if (absent.length === 0)
    return { what: 'CRDs', state: 'ok', says: `ray.io/v1 with ${neededKinds.join(', ')}${cron}` };
  return {
    what: 'CRDs',
    state: 'failed',
    says:
      rayResources.length === 0
        ? "KubeRay's CRDs are not installed (ray.io/v1)"
        : `ray.io/v1 lacks ${absent.join(', ')}`,
    next: 'install KubeRay 1.3 or newer, CRDs first (kubectl apply --server-side, as they are too large for a plain apply)',
  };
}

function checkOperators({ operators, namespace }: KubeFacts): readonly CheckLine[] {
  return seen('operator', operators, (all) => {
    if (all.length === 0)
      return [
        {
          what: 'operator',
          state: 'warning',
          says: "no Deployment of KubeRay's operator was found",
          next: 'install KubeRay; if its operator is not a Deployment, make sure that it watches this namespace',
        },
      ];
    return all.map((each) => checkOperator(each, namespace));
  });
}

function checkOperator(deployment: Json, namespace: string): CheckLine {
  const where = `${namespaceOf(deployment)}/${nameOf(deployment)}`;
  const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers');
  const image = textAt(container, 'image') ?? '';
  const version = /:v?(\d[^:@/]*)/.exec(image.split('/').at(-1) ?? '')?.[1];
  const named = `KubeRay ${version ?? `(${image || 'no image'})`} in ${where}`;
  const watched = watchedNamespaces(container);
  if ((numberAt(deployment, 'status', 'availableReplicas') ?? 0) < 1)
    return {
      what: 'operator',
      state: 'failed',
      says: `${named} is not running`,
      next: `see why with 'kubectl describe deployment -n ${namespaceOf(deployment)} ${nameOf(deployment)}'`,
    };
  if (watched.length > 0 && !watched.includes(namespace))
    return {
      what: 'operator',
      state: 'failed',
      says: `${named} watches ${watched.join(', ')} only, not '${namespace}'`,
      next: `use one of these namespaces, or add '${namespace}' to its --watch-namespace`,
    };
  return { what: 'operator', state: 'ok', says: `${named}, watching ${watched.join(', ') || 'all namespaces'}` };
}

function watchedNamespaces(container: Json | undefined): readonly string[] {
  const words = [...listAt(container, 'command'), ...listAt(container, 'args')].map(String);
  const at = words.findIndex((word) => /^--?watch-namespace(?:=|$)/.test(word));
  if (at < 0) return [];
  const [, value] = words[at]!.split('=', 2);
  return (value ?? words[at + 1] ?? '').split(',').filter((name) => name !== '');
}

const isReady = (node: Json): boolean =>
  listAt(node, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );

function checkNodes(nodes: readonly Json[]): readonly CheckLine[] {
  const ready = nodes.filter(isReady);
  const room = (resource: string): number =>
    ready.reduce<number>((sum, node) => sum + (readQuantity(textAt(node, 'status', 'allocatable', resource)) ?? 0), 0);
  const says = `${ready.length} of ${nodes.length} ready, with ${Number(room('cpu').toFixed(1))} CPUs and ${bytesText(room('memory'))} of memory`;
  if (nodes.length > 0 && ready.length === nodes.length) return [{ what: 'nodes', state: 'ok', says }];
  const lost = nodes.filter((node) => !isReady(node)).map(nameOf);
  return [
    {
      what: 'nodes',
      state: ready.length === 0 ? 'failed' : 'warning',
      says: lost.length === 0 ? 'the cluster has no nodes' : `${says}; not ready: ${lost.slice(0, 5).join(', ')}`,
      next: lost.length === 0 ? 'add a node pool' : `see why with 'kubectl describe node ${lost[0]}'`,
    },
  ];
}

const accelerators = /^(?:.*\/(?:gpu|tpu|neuron|neuroncore)|amd\.com\/gpu|gpu\.intel\.com\/.*)$/;

/** Labels by which clouds and NVIDIA's operator mark machines that have accelerators. */
const acceleratorLabels = [
  'nvidia.com/gpu.present',
  'cloud.google.com/gke-accelerator',
  'cloud.google.com/gke-tpu-accelerator',
  'k8s.amazonaws.com/accelerator',
];

function checkAccelerators(nodes: readonly Json[]): readonly CheckLine[] {
  const counts = new Map<string, number>();
  for (const node of nodes.filter(isReady))
    for (const [resource, value] of entriesAt(node, 'status', 'allocatable'))
      if (accelerators.test(resource)) counts.set(resource, (counts.get(resource) ?? 0) + (readQuantity(value) ?? 0));
  const bare = nodes.filter(
    (node) =>
      entriesAt(node, 'metadata', 'labels').some(
        ([label, value]) => acceleratorLabels.includes(label) && value !== 'false',
      ) &&
      !entriesAt(node, 'status', 'allocatable').some(
        ([resource, value]) => accelerators.test(resource) && value !== '0',
      ),
  );
  if (bare.length > 0)
    return [
      {
        what: 'accelerators',
        state: 'failed',
        says: `${bare.map(nameOf).slice(0, 5).join(', ')} should have accelerators, but no device plugin offers them`,
        next: "install the vendor's device plugin (for NVIDIA: the GPU operator), or check its DaemonSet",
      },
    ];
  const list = [...counts].filter(([, count]) => count > 0).map(([resource, count]) => `${count} ${resource}`);
  return [{ what: 'accelerators', state: 'ok', says: list.join(', ') || 'none' }];
}

function checkQuotas(quotas: readonly Json[], namespace: string): readonly CheckLine[] {
  if (quotas.length === 0) return [{ what: 'quota', state: 'ok', says: `none in '${namespace}'` }];
  return quotas.map((quota): CheckLine => {
    const uses = entriesAt(quota, 'status', 'hard').map(([resource, hard]) => {
      const used = textAt(quota, 'status', 'used', resource) ?? '0';
      return {
        resource,
        text: `${resource} ${used} of ${String(hard)}`,
        full: (readQuantity(used) ?? 0) >= (readQuantity(hard) ?? 0),
      };
    });
    const full = uses.filter((use) => use.full);
    const says = `'${nameOf(quota)}': ${(full.length > 0 ? full : uses).map((use) => use.text).join(', ')}`;
    if (full.length === 0) return { what: 'quota', state: 'ok', says };
    return {
      what: 'quota',
      state: 'warning',
      says: `${says} (used up)`,
      next: `delete what '${namespace}' no longer needs, or ask for a larger quota`,
    };
  });
}

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

function checkStorage(classes: readonly Json[]): readonly CheckLine[] {
  const names = classes.map(
    (each) => `${nameOf(each)}${textAt(each, 'metadata', 'annotations', defaultClass) === 'true' ? ' (default)' : ''}`,
  );
  if (names.length > 0) return [{ what: 'storage', state: 'ok', says: names.join(', ') }];
  return [
    {
      what: 'storage',
      state: 'warning',
      says: 'no storage class: a claim for a volume stays pending',
      next: 'nothing, unless your manifests claim volumes; then install a storage driver',
    },
  ];
}

function checkSecurity(object: Json | undefined, namespace: string): readonly CheckLine[] {
  if (object === undefined) return [];
  const level = textAt(object, 'metadata', 'labels', 'pod-security.kubernetes.io/enforce') ?? 'privileged';
  if (level !== 'restricted')
    return [{ what: 'pod security', state: 'ok', says: `'${namespace}' enforces the level '${level}'` }];
  return [
    {
      what: 'pod security',
      state: 'warning',
      says: `'${namespace}' enforces the level 'restricted', which refuses the pods of KubeRay's samples`,
      next: 'set securityContext in every pod template: runAsNonRoot, seccompProfile RuntimeDefault, no privilege escalation, drop ALL',
    },
  ];
}
