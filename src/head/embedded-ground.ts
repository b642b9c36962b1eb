import { randomBytes } from 'node:crypto';
import { loopSettings } from '../autoscaler/settings.ts';
import { entryFile } from '../base/entry.ts';
import { EmbeddedEngine } from '../engines/embedded/engine.ts';
import { agentCommand } from '../engines/embedded/paths.ts';
import { readFaults } from '../providers/process/faults.ts';
import { kindTag, ProcessProvider } from '../providers/process/provider.ts';
import { headEvents } from './events.ts';
import type { Ground, GroundEdges } from './ground.ts';
import { keepHead } from './head-keeper.ts';
import { endInstances } from './turn-off/workers.ts';

/** An agent that has not registered by then is not going to. */
const longestBoot = 30_000;

/** This machine alone: agents as nodes, the `process` provider as their source. */
export async function embeddedGround({ folder, clock, events, spec, log }: GroundEdges): Promise<Ground> {
  const engine = await EmbeddedEngine.open({ folder: folder.path, clock });
  const faults = readFaults(spec().provider);
  const bootsWithin = longestBoot + Math.max(0, ...faults.map((fault) => fault.bootDelay ?? 0));
  const provider = new ProcessProvider({
    folder: folder.files.instances,
    agent: agentCommand(folder.path, entryFile('agent')),
    typeOf: (name) => spec().nodeTypes.find((type) => type.name === name),
    clock,
    faults,
  });
  return {
    engine,
    provider,
    // An agent is a node from its first breath: the provider starts it, and only its end keeps it from becoming one.
    starter: {
      bringUp: async () => {},
      halt: (providerId, signal) => provider.terminate([providerId], signal),
    },
    // Machines of this machine are listed from its own disk: lists do not lag, and nothing is worth a long wait.
    settings: {
      listLag: 2_000,
      batchIdle: 10,
      batchMax: 200,
      callDeadline: 15_000,
      timeouts: { ...loopSettings.timeouts, absent: 2_000, allocated: bootsWithin, settingUp: bootsWithin },
    },
    complete: (each) => each,
    addressOf: () => undefined,
    reloaded: () => {},
    keep: (signal) =>
      keepHead(
        {
          provider,
          clock,
          headType: () => spec().headType,
          newToken: () => `head-${randomBytes(6).toString('hex')}`,
          tags: { [kindTag]: 'head' },
          failed: (error) => events.emit(headEvents.headTrouble, { detail: messageOf(error) }),
        },
        signal,
      ),
    onPass: (_, plan, signal) => {
      engine.reportInfeasible(plan.infeasible, signal).catch((error: unknown) => log(messageOf(error)));
    },
    activity: async () => [],
    turnOff: (signal) => endInstances(provider, { clock, kinds: ['head', 'worker'] }, signal),
    close: async () => engine.close(),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
