import { version } from '../../../base/version.ts';
import type { Run } from '../../command.ts';

export const run: Run = async (_invocation, io) => {
  const facts = { manta: version, node: process.versions.node, platform: `${process.platform}-${process.arch}` };
  io.out(io.json ? `${JSON.stringify(facts)}\n` : `manta ${facts.manta} (Node ${facts.node}, ${facts.platform})\n`);
  return 0;
};
