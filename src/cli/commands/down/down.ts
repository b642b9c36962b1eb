import { wallClock } from '../../../base/time/wall-clock.ts';
import type { MeantCluster } from '../../../client/target.ts';
import { down } from '../../../launcher/down/this-machine.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { isOfOtherMachines } from '../../../launcher/reach/remote-cluster.ts';
import { readCluster } from '../../../state/cluster-record.ts';
import { stateFolder, stateHome } from '../../../state/state-folder.ts';
import type { Io, Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import type { OptionValues } from '../../option-values.ts';
import { findCluster, onlyKnown } from '../../shared/find-cluster.ts';
import type { downOptions } from './declaration.ts';

/** What `down` was told; what is missing was not said. */
export type DownSettings = Partial<OptionValues<typeof downOptions>>;

export const run: Run<typeof downOptions> = async (invocation, io) => {
  // A cluster that does not run may be meant too, and none is not a failure: `down` may be repeated.
  const meant = await findCluster(invocation, io, (home) => onlyKnown(home) ?? 'default');
  return await bringDown(meant, invocation.options, io);
};

/** Ends a cluster, after asking. */
export async function bringDown(meant: MeantCluster, settings: DownSettings, io: Io): Promise<number> {
  const { name } = meant;
  const home = stateHome(io.env);
  if (isOfOtherMachines({ home, ...meant })) {
    const { bringDownRemote } = await import('./remote.ts');
    return await bringDownRemote(meant, settings, io);
  }
  const { yes = false, keepState = false } = settings;
  const folder = stateFolder(home, name);
  if (readCluster(folder) !== undefined) {
    const rest = keepState ? '' : ', and delete its jobs and their output';
    const question = `Shut down the cluster '${name}' and everything running on it${rest}?`;
    if (!(await confirmed(question, yes, io, { nobody: () => launcherErrors.NotConfirmed({ name }) }))) {
      io.out('Nothing was shut down.\n');
      return 1;
    }
  }
  const { instances, wasThere } = await down({ folder, keepState, clock: wallClock, events: io.events }, io.signal);
  if (io.json) io.out(`${JSON.stringify({ name, instances, wasThere })}\n`);
  else io.out(wasThere ? `The cluster '${name}' is down.\n` : `No cluster '${name}' on this machine; nothing to do.\n`);
  return 0;
}
