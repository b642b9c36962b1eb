import { entryFile } from '../base/entry.ts';
import { messageOf } from '../base/errors.ts';
import { EmbeddedEngine } from '../engines/embedded/engine.ts';
import { agentCommand } from '../engines/embedded/paths.ts';
import type { Ground, GroundEdges } from './ground.ts';
import { processGround } from './process-ground.ts';

const longestBoot = 30_000;

/** This machine alone: agents as nodes. */
export async function embeddedGround(edges: GroundEdges): Promise<Ground> {
  const { folder, clock, log } = edges;
  const engine = await EmbeddedEngine.open({ folder: folder.path, clock });
  return {
    ...processGround(edges, { command: agentCommand(folder.path, entryFile('agent')), longestBoot }),
    engine,
    onPass: (_, plan, signal) => {
      engine.reportInfeasible(plan.infeasible, signal).catch((error: unknown) => log(messageOf(error)));
    },
    activity: async () => [],
    close: async () => engine.close(),
  };
}
