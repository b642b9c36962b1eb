import { randomBytes } from 'node:crypto';
import { loopSettings } from '../../autoscaler/settings.ts';
import { clearInstances } from '../../autoscaler/teardown.ts';
import { messageOf } from '../../base/errors.ts';
import type { Duration } from '../../base/time/clock.ts';
import { readFaults } from '../../providers/process/faults.ts';
import type { ProcessProvider } from '../../providers/process/provider.ts';
import { descriptorFor } from '../../providers/table.ts';
import { headEvents } from '../events.ts';
import type { Backend, BackendContext } from './backend.ts';
import { keepHead } from './head-keeper.ts';

export interface NodeProcess {
  /** What is started as an instance. It is a node by itself, or never becomes one. */
  readonly command: readonly [string, ...string[]];
  /** One that has not registered by then is not going to. */
  readonly longestBoot: Duration;
  /** How long it goes on without the head. */
  readonly lease?: Duration;
}

type Shared = 'starter' | 'settings' | 'complete' | 'addressOf' | 'reloaded' | 'keep' | 'turnOff';

/** What the engines of this machine alone have in common: processes of this user as nodes, one of them the head. */
export async function processBackend(
  { folder, clock, events, spec }: BackendContext,
  { command, longestBoot, lease }: NodeProcess,
): Promise<Pick<Backend, Shared> & { readonly provider: ProcessProvider }> {
  const { kindTag, ProcessProvider } = await descriptorFor(spec(), 'this-machine').load();
  const faults = readFaults(spec().provider.manta.faults);
  const bootsWithin = longestBoot + Math.max(0, ...faults.map((fault) => fault.bootDelay ?? 0));
  const provider = new ProcessProvider({
    folder: folder.files.instances,
    agent: command,
    typeOf: (name) => spec().nodeTypes.find((type) => type.name === name),
    clock,
    faults,
    ...(lease !== undefined && { lease }),
  });
  return {
    provider,
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
      timeouts: {
        ...loopSettings.timeouts,
        absent: 2_000,
        allocated: bootsWithin,
        get settingUp() {
          return spec().provider.manta.setupTimeout ?? bootsWithin;
        },
      },
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
    turnOff: (signal) => clearInstances(provider, { clock, kinds: ['head', 'worker'] }, signal),
  };
}
