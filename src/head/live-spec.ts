import type { ClusterSpec } from '../core/spec/cluster.ts';
import { keepCopy, readCluster } from '../state/cluster-record.ts';
import { loadSpec } from '../state/load-spec.ts';
import type { StateFolder } from '../state/state-folder.ts';
import type { Backend } from './backend/backend.ts';
import { isUnknown } from './report/capacity.ts';

/** The spec of the cluster as it is now: from its record, completed by what the backend has learned. */
export class LiveSpec {
  readonly #folder: StateFolder;
  #complete: (spec: ClusterSpec) => ClusterSpec = (spec) => spec;
  #current: ClusterSpec;
  #elsewhere: (() => ClusterSpec) | undefined;

  constructor(folder: StateFolder) {
    this.#folder = folder;
    this.#current = this.#read();
  }

  get current(): ClusterSpec {
    return this.#elsewhere?.() ?? this.#current;
  }

  completeBy(backend: Pick<Backend, 'complete' | 'spec'>): void {
    this.#elsewhere = backend.spec;
    this.#complete = (spec) => backend.complete(spec);
    this.#current = this.#complete(this.#current);
  }

  /** Own machines are looked at on their way into the cluster: what is not known yet may be by now. */
  learn(): void {
    if (this.#current.nodeTypes.some(isUnknown)) this.#current = this.#complete(this.#current);
  }

  reload(): void {
    this.#current = this.#complete(this.#read());
  }

  #read(): ClusterSpec {
    const record = readCluster(this.#folder);
    if (record === undefined) throw new Error(`${this.#folder.files.cluster} is gone`);
    keepCopy(this.#folder, record);
    return loadSpec(record);
  }
}
