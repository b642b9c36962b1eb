import { convertToRayCluster, type WithoutCounterpart } from '../../../core/kube/convert-cluster.ts';
import { rayVersion } from '../../../core/ray-version.ts';
import type { ProviderTable } from '../../../core/spec/provider-table.ts';
import { resolveCluster } from '../../../core/spec/resolve.ts';
import { providers } from '../../../providers/table.ts';
import type { Io } from '../../command.ts';
import { yamlText } from '../../render/yaml-text.ts';
import { isError, type LoadedFile } from '../../shared/load-file.ts';
import { problemsJson, problemText } from './problems.ts';

/** Prints the RayCluster that a cluster file stands for. Files for Ray's own Kubernetes provider, which is gone, are taken too. */
export function toKuberay(file: LoadedFile, name: string, io: Io): number {
  const { spec, problems } = file.source ? resolveCluster(file.source, file.env, readable) : file;
  if (spec === undefined) {
    const errors = problems.filter(isError);
    io.out(io.json ? problemsJson(name, errors) : problemText(name, file.bytes, errors, io));
    return file.failed === undefined ? 1 : 2;
  }
  const { manifest, without } = convertToRayCluster(spec, { rayVersion });
  io.out(
    io.json
      ? `${JSON.stringify({ file: name, manifest, without })}\n`
      : `${comment(without)}${yamlText(manifest, 0)}\n`,
  );
  return 0;
}

/** For files that leave node types to a provider which is gone. */
const smallest = {
  max_workers: 2,
  head_node_type: 'head',
  available_node_types: {
    head: { min_workers: 0, max_workers: 0, resources: {}, node_config: {} },
    worker: { min_workers: 0, max_workers: 2, resources: {}, node_config: {} },
  },
};

/** Every provider, also those that cannot be launched any more. */
const readable: ProviderTable = {
  ...providers,
  byName: new Map(
    [...providers.byName].map(([name, { removed, ...facts }]) => [
      name,
      removed === undefined ? facts : { defaults: smallest, ...facts },
    ]),
  ),
};

const comment = (without: readonly WithoutCounterpart[]): string =>
  without.length === 0
    ? ''
    : ['# Without a counterpart in a RayCluster:', ...without.map(({ key, says }) => `#   ${key}: ${says}`), ''].join(
        '\n',
      );
