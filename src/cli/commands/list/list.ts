import { knownClusters, type ListedCluster } from '../../../launcher/dashboard/cluster-list.ts';
import { stateHome } from '../../../state/state-folder.ts';
import type { Io, Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { tableText } from '../../shared/tables.ts';
import type { listOptions } from './declaration.ts';

export const run: Run<typeof listOptions> = async ({ options }, io) => {
  if (options.kube) return await (await import('./kube.ts')).listOnKube(options, io);
  const elsewhere = (['context', 'namespace', 'allNamespaces'] as const).find((name) => options[name]);
  if (elsewhere !== undefined)
    throw cliErrors.OptionNeeded({
      command: 'manta list',
      option: `--${elsewhere === 'allNamespaces' ? 'all-namespaces' : elsewhere}`,
      needed: '--kube',
    });
  const clusters = knownClusters(stateHome(io.env));
  if (io.json)
    for (const { name, kind, where, state } of clusters) io.out(`${JSON.stringify({ name, kind, where, state })}\n`);
  else io.out(clusters.length === 0 ? "no clusters; 'manta up' starts one\n" : table(clusters, io));
  return 0;
};

const table = (clusters: readonly ListedCluster[], io: Io): string =>
  tableText(
    ['NAME', 'STATE', 'KIND', 'HEAD'],
    clusters.map(({ name, state, kind, where = '' }) => [name, state, kind, where]),
    io,
  );
