import { entryFile } from '../../base/entry.ts';
import { messageOf } from '../../base/errors.ts';
import { EmbeddedEngine } from '../../engines/embedded/engine.ts';
import { agentCommand } from '../../engines/embedded/paths.ts';
import type { Backend, BackendContext } from './backend.ts';
import { processBackend } from './process-backend.ts';

const longestBoot = 30_000;

/** This machine alone: agents as nodes. */
export async function embeddedBackend(edges: BackendContext): Promise<Backend> {
  const { folder, clock, log } = edges;
  const engine = await EmbeddedEngine.open({ folder: folder.path, clock });
  const command = agentCommand(folder.path, entryFile('agent'));
  return {
    ...(await processBackend(edges, { command, longestBoot })),
    engine,
    onPass: (_, plan, signal) => {
      engine.reportInfeasible(plan.infeasible, signal).catch((error: unknown) => log(messageOf(error)));
    },
    activity: async () => [],
    close: async () => engine.close(),
  };
}
