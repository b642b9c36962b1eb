import { join } from 'node:path';
import { makeFolder, readJson, writeJson } from '../../../base/files/json-file.ts';

/** So many are remembered. */
const mostNodes = 1_000;

/** Nodes whose machines the provider takes away: known to a mantad that starts again within the notice, too. */
export class PreemptedNodes {
  readonly #file: string;
  readonly #nodes: Set<string>;

  constructor(folder: string) {
    this.#file = join(makeFolder(folder), 'ray-preempted.json');
    this.#nodes = new Set(readNodes(this.#file));
  }

  has(node: string): boolean {
    return this.#nodes.has(node);
  }

  /** Throws where the disk refuses; this process knows it all the same. */
  add(node: string): void {
    if (this.#nodes.has(node)) return;
    this.#nodes.add(node);
    for (const oldest of this.#nodes) if (this.#nodes.size > mostNodes) this.#nodes.delete(oldest);
    writeJson(this.#file, [...this.#nodes]);
  }
}

/** None where the file is damaged: without them, a preempted node counts as a lost one. */
function readNodes(file: string): readonly string[] {
  try {
    return readJson<readonly string[]>(file) ?? [];
  } catch {
    return [];
  }
}
