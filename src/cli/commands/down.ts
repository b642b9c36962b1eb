import { createInterface } from 'node:readline/promises';
import { wallClock } from '../../base/wall-clock.ts';
import { clusterNames, readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { down } from '../../launcher/down.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import type { Io, Run } from '../command.ts';
import { isOfOtherMachines } from './up.ts';
import { whichCluster } from './which-cluster.ts';

export const run: Run = async (invocation, io) => {
  const { options } = invocation;
  const home = stateHome(io.env);
  const given = await whichCluster(invocation, io);
  const meant = { ...given, name: given.name ?? onlyCluster(home) };
  const { name } = meant;
  if (isOfOtherMachines(meant, io)) {
    const { runDownRemote } = await import('./down-remote.ts');
    return await runDownRemote(invocation, meant, (question) => confirmed(question, io), io);
  }
  const folder = stateFolder(home, name);
  const keepState = options['keep-state'] === true;
  if (readCluster(folder) !== undefined && options['yes'] !== true) {
    if (!io.terminal) throw launcherErrors.NotConfirmed({ name });
    const rest = keepState ? '' : ', and delete its jobs and their output';
    if (!(await confirmed(`End the cluster '${name}' and everything that runs in it${rest}? [y/N] `, io))) {
      io.out('Nothing was ended.\n');
      return 1;
    }
  }
  const { instances, wasThere } = await down({ folder, keepState, clock: wallClock, events: io.events }, io.signal);
  if (io.json) io.out(`${JSON.stringify({ name, instances, wasThere })}\n`);
  else
    io.out(
      wasThere ? `The cluster '${name}' is down.\n` : `There is no cluster '${name}' on this machine; nothing to do.\n`,
    );
  return 0;
};

/** The one cluster there is, when there is one; `default` otherwise. */
function onlyCluster(home: string): string {
  const names = clusterNames(home);
  return names.length === 1 ? (names[0] as string) : 'default';
}

async function confirmed(question: string, io: Io): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  try {
    const answer = await lines.question(question, { signal: io.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
