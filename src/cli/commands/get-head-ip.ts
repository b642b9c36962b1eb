import { existsSync } from 'node:fs';
import { stateFolder, stateHome } from '../../head/state-folder.ts';
import type { Io, Run } from '../command.ts';
import { SoughtCluster, withClusterHead } from './exec-head.ts';
import type { getHeadIpOptions } from './launch.ts';

export const run: Run<typeof getHeadIpOptions> = async (invocation, io) => {
  const sought = new SoughtCluster(invocation, io);
  const address = (await knownAddress(sought, io)) ?? (await askedAddress(sought, io));
  io.out(io.json ? `${JSON.stringify({ address })}\n` : `${address}\n`);
  return 0;
};

/** A cluster that was started from here and is not ended needs no asking. */
async function knownAddress(sought: SoughtCluster, io: Io): Promise<string | undefined> {
  const way = await sought.knownWay();
  return way && isKnown(way.name, io) ? way.shown : undefined;
}

const isKnown = (name: string, io: Io): boolean => existsSync(stateFolder(stateHome(io.env), name).files.cluster);

/** Any other is asked for where its head would be. */
async function askedAddress(sought: SoughtCluster, io: Io): Promise<string> {
  let address = '';
  await withClusterHead(sought, io, async ({ name, head, shown }) => {
    const { claimedNodes } = await import('../../launcher/node-claims.ts');
    const { execErrors } = await import('../../launcher/exec-errors.ts');
    if (!isKnown(name, io) && (await claimedNodes(head, name, { signal: io.signal })) === undefined)
      throw execErrors.NotUp({ name, host: head.name });
    address = shown;
    return 0;
  });
  return address;
}
