import { existsSync } from 'node:fs';
import { stateFolder, stateHome } from '../../../state/state-folder.ts';
import type { Io, Run } from '../../command.ts';
import { ClusterLookup, withClusterHead } from '../../shared/cluster-head.ts';
import type { getHeadIpOptions } from './declaration.ts';

export const run: Run<typeof getHeadIpOptions> = async (invocation, io) => {
  const lookup = new ClusterLookup(invocation, io);
  const address = (await knownAddress(lookup, io)) ?? (await askedAddress(lookup, io));
  io.out(io.json ? `${JSON.stringify({ address })}\n` : `${address}\n`);
  return 0;
};

/** A cluster that was started from here and is not ended needs no asking. */
async function knownAddress(lookup: ClusterLookup, io: Io): Promise<string | undefined> {
  const route = await lookup.knownRoute();
  return route && isKnown(route.name, io) ? route.shown : undefined;
}

const isKnown = (name: string, io: Io): boolean => existsSync(stateFolder(stateHome(io.env), name).files.cluster);

/** Any other is asked for where its head would be. */
async function askedAddress(lookup: ClusterLookup, io: Io): Promise<string> {
  let address = '';
  await withClusterHead(lookup, io, async ({ name, head, shown }) => {
    const { claimedNodes } = await import('../../../launcher/reach/node-claims.ts');
    const { launcherErrors } = await import('../../../launcher/errors.ts');
    if (!isKnown(name, io) && (await claimedNodes(head, name, { signal: io.signal })) === undefined)
      throw launcherErrors.ExecNotUp({ name, host: head.name });
    address = shown;
    return 0;
  });
  return address;
}
