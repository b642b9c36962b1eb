import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DiskStep } from './record.ts';

/**
 * A disk as POSIX promises it, and no better.
 *
 * - A file holds what it held when it was last synced. What was written since may be there whole, in its first half, as
 *   zeros, or not at all.
 * - A folder holds the names that it held when it was last synced. Of the changes since (a name made, removed, renamed,
 *   linked) any may be there and any not, whatever their order was.
 * - Syncing a file says nothing of its name, and syncing a folder nothing of what is in its files.
 *
 * Files are only written from their beginning or at their end, which the recorder's programs do.
 */
interface File {
  readonly kind: 'file';
  content: Buffer;
  synced: Buffer;
  /** Was cut to nothing since it was synced. */
  cut: boolean;
}

interface Folder {
  readonly kind: 'folder';
  names: Map<string, Node>;
  synced: Map<string, Node>;
  /** Since it was synced. */
  changes: Change[];
}

type Node = File | Folder;
type Change = (names: Map<string, Node>) => void;

/** Contents by path relative to the root; a folder has none. */
export type Tree = ReadonlyMap<string, Buffer | undefined>;

const newFolder = (): Folder => ({ kind: 'folder', names: new Map(), synced: new Map(), changes: [] });
const newFile = (): File => ({ kind: 'file', content: Buffer.alloc(0), synced: Buffer.alloc(0), cut: false });

export class Disk {
  readonly #root: string;
  readonly #top = newFolder();

  constructor(root: string) {
    this.#root = root;
  }

  take(step: Exclude<DiskStep, { kind: 'said' }>): void {
    switch (step.kind) {
      case 'make-folder':
        return this.#change(step.path, newFolder());
      case 'make':
        if (!this.#find(step.path)) this.#change(step.path, newFile());
        return;
      case 'truncate': {
        const found = this.#find(step.path);
        if (!found) return this.#change(step.path, newFile());
        Object.assign(found, { content: Buffer.alloc(0), cut: true });
        return;
      }
      case 'write': {
        const file = this.#find(step.path);
        // Descriptors of what has lost its name, and of pipes.
        if (file?.kind === 'file') file.content = Buffer.concat([file.content, step.bytes]);
        return;
      }
      case 'link':
        return this.#change(step.to, this.#find(step.from));
      case 'remove':
        return this.#change(step.path, undefined);
      case 'rename': {
        if (dirname(step.from) !== dirname(step.to)) throw new Error('the model knows no renames across folders');
        const [from, to, node] = [basename(step.from), basename(step.to), this.#find(step.from)];
        return this.#apply(dirname(step.to), (names) => {
          if (names.get(from) === node) names.delete(from);
          if (node) names.set(to, node);
        });
      }
      case 'sync-all':
        return this.settle();
      case 'sync': {
        const node = this.#find(step.path);
        if (node?.kind === 'file') Object.assign(node, { synced: node.content, cut: false });
        else if (node) Object.assign(node, { synced: new Map(node.names), changes: [] });
        return;
      }
      default:
        throw new Error(`the model does not know ${JSON.stringify(step)}`);
    }
  }

  /** As if all of it had been synced. */
  settle(folder: Folder = this.#top): void {
    Object.assign(folder, { synced: new Map(folder.names), changes: [] });
    for (const node of folder.names.values()) {
      if (node.kind === 'folder') this.settle(node);
      else Object.assign(node, { synced: node.content, cut: false });
    }
  }

  /** Every state that a power cut may leave now, within reason: see `choices`. */
  *afterPowerCut(): Generator<Tree> {
    const folders = this.#folders();
    const named = choices(folders.map((folder) => subsets(folder.changes).length));
    for (const choice of named) {
      const names = new Map(
        folders.map((folder, index) => {
          const kept = new Map(folder.synced);
          for (const change of subsets(folder.changes)[choice[index] ?? 0] ?? []) change(kept);
          return [folder, kept];
        }),
      );
      const files = [...reachable(this.#top, names)].filter((file) => contentsOf(file).length > 1);
      for (const content of choices(files.map((file) => contentsOf(file).length))) {
        const contents = new Map(
          files.map((file, index) => [file, contentsOf(file)[content[index] ?? 0] ?? file.synced]),
        );
        const tree = new Map<string, Buffer | undefined>();
        lay(this.#top, '', names, contents, tree);
        yield tree;
      }
    }
  }

  #find(path: string): Node | undefined {
    const parts = relative(this.#root, path).split('/').filter(Boolean);
    return parts.reduce<Node | undefined>(
      (node, name) => (node?.kind === 'folder' ? node.names.get(name) : undefined),
      this.#top,
    );
  }

  #change(path: string, node: Node | undefined): void {
    const name = basename(path);
    this.#apply(dirname(path), (names) => (node ? names.set(name, node) : names.delete(name)));
  }

  #apply(path: string, change: Change): void {
    const folder = this.#find(path);
    if (folder?.kind !== 'folder') throw new Error(`there is no folder ${path}`);
    change(folder.names);
    folder.changes.push(change);
  }

  /** Also those that a lost change would bring back. */
  #folders(): Folder[] {
    const found = new Set<Folder>();
    const visit = (folder: Folder): void => {
      if (found.has(folder)) return;
      found.add(folder);
      for (const node of [...folder.names.values(), ...folder.synced.values()]) if (node.kind === 'folder') visit(node);
    };
    visit(this.#top);
    return [...found];
  }
}

/** All of them; of more than six changes none, all, each alone, all but each, and each beginning. */
function subsets(changes: readonly Change[]): readonly (readonly Change[])[] {
  if (changes.length <= 6)
    return Array.from({ length: 2 ** changes.length }, (_, bits) =>
      changes.filter((_each, index) => (bits >> index) & 1),
    );
  return [
    ...changes.map((_, index) => changes.slice(0, index)),
    changes,
    ...changes.map((each) => [each]),
    ...changes.map((each) => changes.filter((other) => other !== each)),
  ];
}

/** Contents a file may have: the last one is all that was written. */
function contentsOf({ content, synced, cut }: File): Buffer[] {
  if (!cut && content.equals(synced)) return [content];
  const half = content.subarray(0, cut ? content.length >> 1 : synced.length + ((content.length - synced.length) >> 1));
  const zeros = Buffer.concat([cut ? Buffer.alloc(0) : synced, Buffer.alloc(content.length)]).subarray(
    0,
    content.length,
  );
  return [synced, ...(cut ? [Buffer.alloc(0)] : []), half, zeros, content];
}

/**
 * One choice for each of several things that have so many each. All combinations where they are few; else the first and
 * the last of all, and each choice of one thing beside the last and beside the first of all others.
 */
function* choices(counts: readonly number[]): Generator<number[]> {
  const all = counts.reduce((product, count) => product * count, 1);
  if (all <= 64) {
    for (let number = 0; number < all; number++) {
      let rest = number;
      yield counts.map((count) => {
        const choice = rest % count;
        rest = Math.floor(rest / count);
        return choice;
      });
    }
    return;
  }
  const first = counts.map(() => 0);
  const last = counts.map((count) => count - 1);
  yield first;
  yield last;
  for (const [index, count] of counts.entries())
    for (let choice = 0; choice < count; choice++) for (const others of [first, last]) yield others.with(index, choice);
}

function reachable(folder: Folder, names: ReadonlyMap<Folder, Map<string, Node>>, found = new Set<File>()): Set<File> {
  for (const node of names.get(folder)?.values() ?? [])
    if (node.kind === 'file') found.add(node);
    else reachable(node, names, found);
  return found;
}

function lay(
  folder: Folder,
  at: string,
  names: ReadonlyMap<Folder, Map<string, Node>>,
  contents: ReadonlyMap<File, Buffer>,
  tree: Map<string, Buffer | undefined>,
): void {
  for (const [name, node] of names.get(folder) ?? []) {
    const path = join(at, name);
    if (node.kind === 'file') tree.set(path, contents.get(node) ?? node.content);
    else {
      tree.set(path, undefined);
      lay(node, path, names, contents, tree);
    }
  }
}

/** Makes a folder what a tree says. */
export function layOut(tree: Tree, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of tree) {
    if (content === undefined) mkdirSync(join(folder, path), { recursive: true });
    else writeFileSync(join(folder, path), content);
  }
}

/** The same for equal trees. */
export const keyOf = (tree: Tree): string =>
  JSON.stringify(
    [...tree].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, content]) => [path, content?.toString('hex')]),
  );
