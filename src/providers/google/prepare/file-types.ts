import type { ClusterSpec, Plain, PlainMap } from '../../../core/spec/cluster.ts';
import { fingerprint } from '../../../core/spec/fingerprint.ts';
import { legacyHeadType, legacyWorkerType } from '../../../core/spec/legacy/node-types.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { Path } from '../../../core/spec/problem.ts';
import { isMap } from '../../../core/spec/source.ts';
import { isSlice } from '../slice-shape.ts';

/** Something that the file launches: a node type, or a head that differs from the workers of its type. */
export interface LaunchedType {
  /** Of the node type. */
  readonly name: string;
  /** Whether the head is launched so. */
  readonly isHead: boolean;
  /** Whether workers are. */
  readonly hasWorkers: boolean;
  /** Where its launch configuration stands in the file. */
  readonly at: Path;
  /** What the file says; members that it leaves out are the template's. */
  readonly config: PlainMap;
  readonly isSlice: boolean;
  /** Whether other workers can do without it: none of it is wanted at all times. */
  readonly isOptional: boolean;
  /** The zone that it is for alone, where its offers say so. */
  readonly zones: readonly string[];
}

/** Files of earlier years have these in place of node types. */
const legacyPaths: ReadonlyMap<string, Path> = new Map([
  [legacyHeadType, ['head_node']],
  [legacyWorkerType, ['worker_nodes']],
]);

const configPath = (type: string): Path => legacyPaths.get(type) ?? ['available_node_types', type, 'node_config'];

/** What the file launches, without what templates add. */
export function typesInFile(spec: ClusterSpec): readonly LaunchedType[] {
  const head = spec.head.launchConfig;
  const workers = spec.nodeTypes.filter(({ maxWorkers }) => maxWorkers > 0);
  return spec.nodeTypes.flatMap(
    ({ name, launchConfig, offers, minWorkers, initialWorkers }): readonly LaunchedType[] => {
      const isOptional = workers.length > 1 && minWorkers === 0 && initialWorkers === 0;
      const zones = [...new Set(offers.flatMap(({ zone }) => zone ?? []))];
      const base = {
        name,
        at: configPath(name),
        config: launchConfig,
        zones,
        isOptional,
        isSlice: isSlice(launchConfig),
      };
      if (name !== spec.headType) return [{ ...base, isHead: false, hasWorkers: true }];
      if (fingerprint(launchConfig) === fingerprint(head)) return [{ ...base, isHead: true, hasWorkers: true }];
      const own = { name, at: ['head_node'], config: head, zones, isOptional, isSlice: isSlice(head) };
      return [
        { ...base, isHead: false, hasWorkers: true },
        { ...own, isHead: true, hasWorkers: false },
      ];
    },
  );
}

export const headOf = (types: readonly LaunchedType[]): LaunchedType => types.find(({ isHead }) => isHead)!;

/** Google takes a mapping where its documents have a list of them, and files have both. */
export const mapsOf = (value: Plain | undefined): readonly PlainMap[] =>
  Array.isArray(value) ? (value as readonly Plain[]).filter(isMap) : isMap(value) ? [value] : [];

/** From `projects/` on, with the project where only the rest was given. */
export const partialUrl = (url: string, project: string): string => {
  const path = url.replace(/^https?:\/\/[^/]+\/(?:compute\/v1\/)?/, '').replace(/^\/+/, '');
  return path.startsWith('projects/') ? path : `projects/${project}/${path}`;
};

/** The project that a partial URL is in. */
export const projectOf = (partial: string): string => partial.split('/')[1] ?? '';

/** The values of instance metadata by their keys. */
export const metadataIn = ({ metadata }: PlainMap): ReadonlyMap<string, string> =>
  new Map(mapsOf(mapOf(metadata).items).flatMap(({ key, value }) => (isText(key) ? [[key, String(value)]] : [])));

/** The service account of a machine or of a slice; undefined where the file has none. */
export function accountIn({ serviceAccounts, serviceAccount }: PlainMap): string | undefined {
  const { email } = mapsOf(serviceAccounts)[0] ?? mapOf(serviceAccount);
  return isText(email) ? email : undefined;
}

export const hasAccount = ({ serviceAccounts, serviceAccount }: PlainMap): boolean =>
  mapsOf(serviceAccounts).length > 0 || mapsOf(serviceAccount).length > 0;

/** What tokens of a machine are for, as the file says. */
export const scopesIn = ({ serviceAccounts }: PlainMap): readonly string[] =>
  mapsOf(serviceAccounts).flatMap(({ scopes }) => (Array.isArray(scopes) ? scopes.filter(isText) : []));
