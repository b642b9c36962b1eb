import { existsSync } from 'node:fs';
import { stateFolder, stateHome } from '../../head/state-folder.ts';
import type { Invocation, Io, Run } from '../command.ts';
import { rememberedWay, withClusterHead } from './exec-head.ts';

export const run: Run = async (invocation, io) => {
  const address = knownAddress(invocation, io) ?? (await askedAddress(invocation, io));
  io.out(io.json ? `${JSON.stringify({ address })}\n` : `${address}\n`);
  return 0;
};

/** A cluster that was started from here and is not ended needs no asking. */
function knownAddress(invocation: Invocation, io: Io): string | undefined {
  const way = rememberedWay(invocation, io);
  return way && isKnown(way.name, io) ? way.shown : undefined;
}

const isKnown = (name: string, io: Io): boolean => existsSync(stateFolder(stateHome(io.env), name).files.cluster);

/** Any other is asked for where its head would be. */
async function askedAddress(invocation: Invocation, io: Io): Promise<string> {
  let address = '';
  await withClusterHead(invocation, io, async ({ name, head, shown }) => {
    const { claimedNodes } = await import('../../launcher/node-claims.ts');
    const { execErrors } = await import('../../launcher/exec-errors.ts');
    if (!isKnown(name, io) && (await claimedNodes(head, name, { signal: io.signal })) === undefined)
      throw execErrors.NotUp({ name, host: head.name });
    address = shown;
    return 0;
  });
  return address;
}
