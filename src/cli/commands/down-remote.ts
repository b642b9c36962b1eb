import { wallClock } from '../../base/wall-clock.ts';
import type { MeantCluster } from '../../head/client/target.ts';
import { readConfig } from '../../head/load-spec.ts';
import { readCluster, removeCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { type DownRemoteResult, downRemote } from '../../launcher/down-remote.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import { launcherEvents } from '../../launcher/events.ts';
import { openRemote, type RemoteCluster, startedElsewhere } from '../../launcher/remote-cluster.ts';
import type { Io } from '../command.ts';
import { confirmed } from '../confirm.ts';
import type { DownSettings } from './down.ts';

/** `down` of a cluster of other machines. Exit code 1 when something is left somewhere that was not given up; it is named. */
export async function bringDownRemote(meant: MeantCluster, settings: DownSettings, io: Io): Promise<number> {
  if (await endedWithoutHead(meant, io)) return 0;
  const cluster = openIfKnown(meant, io);
  if (cluster === undefined) return 0;
  const { name } = cluster;
  const { yes = false, keepMinWorkers = false, forget = false } = settings;
  const workersOnly = settings.workersOnly === true || keepMinWorkers;
  let begun = false;
  try {
    const what = workersOnly ? `the workers of '${name}'` : `the cluster '${name}'`;
    const hosts = `${cluster.workerAddresses.length + (workersOnly ? 0 : 1)} hosts`;
    const question = `End ${what} on ${hosts}, and everything that runs in it?`;
    if (!(await confirmed(question, yes, io, { nobody: () => launcherErrors.NotConfirmed({ name }) }))) {
      io.out('Nothing was ended.\n');
      return 1;
    }
    begun = true;
    const { wasThere, ended, left } = await downRemote(
      {
        cluster,
        workersOnly,
        keepMinWorkers,
        forget,
        env: io.env,
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
    else io.out(leftText(name, ended.length, left, forget));
    return left.length === 0 || forget ? 0 : 1;
  } finally {
    if (begun && io.signal.aborted) io.events.emit(launcherEvents.cutShort, { name, what: 'down' });
    await cluster.close();
  }
}

/** A cloud's cluster whose head never came: what was asked for is ended by the cloud's own list. */
async function endedWithoutHead({ name, file }: MeantCluster, io: Io): Promise<boolean> {
  const folder = stateFolder(stateHome(io.env), name);
  const { remote, config } = readCluster(folder) ?? {};
  if (remote?.clusterId === undefined || remote.address !== undefined || config === undefined) return false;
  const { endCloudInstances } = await import('../../launcher/cloud-head.ts');
  const request = { folder, file: readConfig(config, file), env: io.env, clock: wallClock, events: io.events };
  const { ended, left } = await endCloudInstances(request, 'all', 0, io.signal);
  if (left.length > 0) throw launcherErrors.StillThere({ name: folder.name, what: left.map(({ host }) => host) });
  removeCluster(folder);
  io.out(`The cluster '${folder.name}' is down: it had no head yet, and ${ended.length} instances were ended.\n`);
  return true;
}

/** Undefined for a cloud's cluster of which nothing is known here, which is said: `down` may be repeated. */
function openIfKnown(meant: MeantCluster, io: Io): RemoteCluster | undefined {
  try {
    const home = stateHome(io.env);
    const cluster = openRemote({ home, ...meant });
    const moved = meant.file && startedElsewhere(cluster);
    if (!moved) return cluster;
    // What was started is what is ended, whatever the file has become since.
    io.events.emit(launcherEvents.endsElsewhere, { name: cluster.name, ...moved });
    return openRemote({ home, name: cluster.name });
  } catch (error) {
    if (!launcherErrors.NotUpYet.is(error)) throw error;
    const { name } = error.data;
    if (io.json) io.out(`${JSON.stringify({ name, wasThere: false, ended: [], left: [] })}\n`);
    else io.out(`There was no cluster '${name}' that is known here; nothing to do.\n`);
    return undefined;
  }
}

function leftText(name: string, ended: number, left: DownRemoteResult['left'], forget: boolean): string {
  const hosts = left.map(({ host, why }) => `  ${why.startsWith(host) ? why : `${host}: ${why}`}`).join('\n');
  return forget
    ? `The cluster '${name}' is down on ${ended} hosts. These were given up, and may still run something of it:\n${hosts}\n`
    : `The cluster '${name}' is down on ${ended} hosts. Not on these:\n${hosts}\nRun it again when they answer; --forget gives them up.\n`;
}
