/** The kinds of KubeRay that stand for a cluster, by the words that name them. */
export const rayKinds = { raycluster: 'RayCluster', rayservice: 'RayService', rayjob: 'RayJob' } as const;
export type RayKindWord = keyof typeof rayKinds;
export type RayKind = (typeof rayKinds)[RayKindWord];

/** What a user writes for a cluster on Kubernetes: `kube:[NAMESPACE/][KIND/]NAME`. */
export interface KubeClusterName {
  readonly namespace?: string;
  readonly kind?: RayKind;
  readonly name: string;
}

/** Undefined for what is not such a name. */
export function readKubeName(word: string): KubeClusterName | undefined {
  const parts = word.slice('kube:'.length).split('/');
  const name = parts.pop()!;
  const kind = kindOf(parts.at(-1));
  if (kind !== undefined) parts.pop();
  const [namespace, ...more] = parts;
  if (more.length > 0 || ![name, ...(namespace === undefined ? [] : [namespace])].every(isName)) return undefined;
  return { name, ...(namespace !== undefined && { namespace }), ...(kind !== undefined && { kind }) };
}

function kindOf(word: string | undefined): RayKind | undefined {
  const spelled = word?.toLowerCase().replace(/s$/, '');
  return spelled !== undefined && Object.hasOwn(rayKinds, spelled) ? rayKinds[spelled as RayKindWord] : undefined;
}

const isName = (word: string): boolean => /^[a-z0-9][a-z0-9.-]{0,252}$/.test(word);
