import { wallClock } from '../../base/wall-clock.ts';
import { stateHome } from '../../head/state-folder.ts';
import { downRemote } from '../../launcher/down-remote.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import { launcherEvents } from '../../launcher/events.ts';
import { openRemote } from '../../launcher/remote-cluster.ts';
import type { Invocation, Io } from '../command.ts';
import type { MeantCluster } from './which-cluster.ts';

/** `down` of a cluster of other machines. Exit code 1 when something is left somewhere, which is named. */
export async function runDownRemote(
  { options }: Invocation,
  meant: MeantCluster,
  confirmed: (question: string) => Promise<boolean>,
  io: Io,
): Promise<number> {
  const cluster = openRemote({ home: stateHome(io.env), ...meant });
  const { name } = cluster;
  const workersOnly = options['workers-only'] === true || options['keep-min-workers'] === true;
  let begun = false;
  try {
    if (options['yes'] !== true) {
      if (!io.terminal) throw launcherErrors.NotConfirmed({ name });
      const what = workersOnly ? `the workers of '${name}'` : `the cluster '${name}'`;
      const hosts = `${cluster.workerAddresses.length + (workersOnly ? 0 : 1)} hosts`;
      if (!(await confirmed(`End ${what} on ${hosts}, and everything that runs in it? [y/N] `))) {
        io.out('Nothing was ended.\n');
        return 1;
      }
    }
    begun = true;
    const { wasThere, ended, left } = await downRemote(
      {
        cluster,
        workersOnly,
        keepMinWorkers: options['keep-min-workers'] === true,
        forget: options['forget'] === true,
        clock: wallClock,
        events: io.events,
      },
      io.signal,
    );
    if (io.json) io.out(`${JSON.stringify({ name, wasThere, ended, left })}\n`);
    else if (left.length === 0)
      io.out(
        wasThere
          ? `The cluster '${name}' is down: ${ended.length} hosts were looked at, and nothing of it is left.\n`
          : `There was no cluster '${name}'; ${ended.length} hosts were looked at, and nothing of it is there.\n`,
      );
    else
      io.out(
        `The cluster '${name}' is down on ${ended.length} hosts. Not on these:\n${left.map(({ host, why }) => `  ${host}: ${why}`).join('\n')}\nRun it again when they answer; --forget gives them up.\n`,
      );
    return left.length === 0 ? 0 : 1;
  } finally {
    if (begun && io.signal.aborted) io.events.emit(launcherEvents.cutShort, { name, what: 'down' });
    await cluster.close();
  }
}
