import { isName, type Key, segmentsOf } from './key.ts';
import { legacyKeys } from './legacy.ts';
import { mantaKeys } from './manta.ts';
import { nodeTypeKeys } from './node-types.ts';
import { providerKeys } from './provider.ts';
import { topKeys } from './top.ts';

/** Every key of `cluster.yaml`, in the order of the reference page. */
export const keys: readonly Key[] = [...topKeys, ...providerKeys, ...mantaKeys, ...nodeTypeKeys, ...legacyKeys];

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

function grow(): KeyNode {
  const root: Growing = { key: { path: '', shape: 'section', doc: 'The file.' }, children: new Map() };
  for (const key of [...keys].sort((a, b) => segmentsOf(a.path).length - segmentsOf(b.path).length)) {
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

export const keyTree: KeyNode = grow();

/** The table's entry for a path of the file; undefined where nothing is known of it. */
export function keyFor(path: readonly (string | number)[]): Key | undefined {
  let node: KeyNode | undefined = keyTree;
  for (const segment of path) node = node?.children.get(String(segment)) ?? node?.named;
  return node?.key;
}
