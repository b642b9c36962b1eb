import { createInterface } from 'node:readline/promises';
import { wallClock } from '../../base/wall-clock.ts';
import { clientErrors } from '../../head/client/errors.ts';
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
  const meant = { ...given, name: given.name ?? unnamedCluster(home, io) };
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

/** What is ended is named, or the only one there is: no cluster is guessed among several. */
function unnamedCluster(home: string, io: Io): string {
  const named = io.env['MANTA_CLUSTER'];
  if (named) return named;
  const names = clusterNames(home);
  if (names.length > 1) throw clientErrors.SeveralClusters({ names });
  return names[0] ?? 'default';
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
