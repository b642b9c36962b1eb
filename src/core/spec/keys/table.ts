import { mapOf } from '../plain.ts';
import type { ProviderFacts } from '../provider-facts.ts';
import { isName, type Key, segmentsOf } from './key.ts';
import { legacyKeys } from './legacy.ts';
import { mantaKeys } from './manta.ts';
import { nodeTypeKeys } from './node-types.ts';
import { providerKeys } from './provider.ts';
import { topKeys } from './top.ts';

const nodeConfig = 'available_node_types.<type>.node_config';

/** Every key of `cluster.yaml` with these providers, in the order of the reference page. */
export function keysFor(facts: readonly ProviderFacts[]): readonly Key[] {
  const declared = declaredKeys(facts);
  const own = declared.filter(({ legacy }) => legacy === undefined);
  const names = facts.filter(({ removed }) => removed === undefined).map(({ name }) => name);
  const common = [
    ...topKeys.map((key) => (key.path === 'auth.ssh_user' ? { ...key, default: usersOf(facts) } : key)),
    ...providerKeys(names),
    ...own.filter(({ path }) => !isInNodeConfig(path)),
    ...mantaKeys,
    ...nodeTypeKeys,
    ...own.filter(({ path }) => isInNodeConfig(path)),
    ...legacyKeys,
    ...declared.filter(({ legacy }) => legacy !== undefined),
  ];
  return common.map(({ kinds, ...key }) =>
    kinds === undefined
      ? key
      : { ...key, providers: facts.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name) },
  );
}

/** Who logs in where the file names nobody: `ubuntu (aws, gcp), root (aliyun)`. */
function usersOf(facts: readonly ProviderFacts[]): string {
  const providers = new Map<string, readonly string[]>();
  for (const { name, defaults } of facts) {
    const { ssh_user: user } = mapOf(defaults?.auth);
    if (typeof user === 'string') providers.set(user, [...(providers.get(user) ?? []), name]);
  }
  return [...providers].map(([user, names]) => `${user} (${names.join(', ')})`).join(', ');
}

/** Keys of `node_config` mean what their provider says: in the files of others they may be anything. */
export const isInNodeConfig = (path: string): boolean => path.startsWith(`${nodeConfig}.`);

/** What the providers declare, each key once, with the names of those that read it. */
function declaredKeys(facts: readonly ProviderFacts[]): readonly Key[] {
  const byPath = new Map<string, { readonly name: string; readonly key: Key }[]>();
  for (const { name, keys = [] } of facts)
    for (const key of keys) byPath.set(key.path, [...(byPath.get(key.path) ?? []), { name, key }]);
  return [...byPath.values()].map((by) => {
    const [first] = by as [(typeof by)[number]];
    const preset = defaultOf(by);
    return {
      ...first.key,
      ...(preset !== undefined && { default: preset }),
      providers: by.map(({ name }) => name),
    };
  });
}

/** One default where all have the same, otherwise each with the name of its provider. */
function defaultOf(by: readonly { readonly name: string; readonly key: Key }[]): string | undefined {
  const [first] = by;
  if (by.every(({ key }) => key.default === first?.key.default)) return first?.key.default;
  return by
    .filter(({ key }) => key.default !== undefined)
    .map(({ name, key }) => `${key.default} (${name})`)
    .join(', ');
}

/** The table as a tree; the root is the file itself. */
export interface KeyNode {
  readonly key: Key;
  readonly children: ReadonlyMap<string, KeyNode>;
  /** The entry for names that the user chooses. */
  readonly named?: KeyNode;
}

interface Growing {
  key: Key;
  children: Map<string, Growing>;
  named?: Growing;
}

/** The keys that have one meaning in every file. */
export function keyTreeOf(keys: readonly Key[]): KeyNode {
  const root: Growing = { key: { path: '', shape: 'section', doc: 'The file.' }, children: new Map() };
  const shared = keys.filter(({ path }) => !isInNodeConfig(path));
  for (const key of shared.sort((a, b) => segmentsOf(a.path).length - segmentsOf(b.path).length)) {
    const segments = segmentsOf(key.path);
    const last = segments[segments.length - 1] as string;
    let parent = root;
    for (const segment of segments.slice(0, -1)) {
      parent = (isName(segment) ? parent.named : parent.children.get(segment)) as Growing;
    }
    const node: Growing = { key, children: new Map() };
    if (isName(last)) parent.named = node;
    else parent.children.set(last, node);
  }
  return root;
}

/** The table's entry for a path of the file; undefined where nothing is known of it. */
export function keyFor(tree: KeyNode, path: readonly (string | number)[]): Key | undefined {
  let node: KeyNode | undefined = tree;
  for (const segment of path) node = node?.children.get(String(segment)) ?? node?.named;
  return node?.key;
}
