import { readFileSync } from 'node:fs';
import type { Run } from '../command.ts';

export const run: Run = async (_invocation, io) => {
  const facts = { manta: version(), node: process.versions.node, platform: `${process.platform}-${process.arch}` };
  io.out(io.json ? `${JSON.stringify(facts)}\n` : `manta ${facts.manta} (Node ${facts.node}, ${facts.platform})\n`);
  return 0;
};

/** From the package.json above this file, wherever the bundle or the sources stand below it. */
function version(): string {
  let folder = new URL('.', import.meta.url);
  for (let last = ''; folder.href !== last; folder = new URL('..', folder)) {
    last = folder.href;
    try {
      const found = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (found.name === 'mantaray' && found.version !== undefined) return found.version;
    } catch {
      // Not this folder.
    }
  }
  return 'unknown';
}
