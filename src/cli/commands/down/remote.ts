import { wallClock } from '../../../base/time/wall-clock.ts';
import type { MeantCluster } from '../../../client/target.ts';
import { whyOf } from '../../../launcher/down/remains-words.ts';
import { type DownRemoteResult, downRemote } from '../../../launcher/down/remote.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import { openRemote, type RemoteCluster, startedElsewhere } from '../../../launcher/reach/remote-cluster.ts';
import { listsLag, type Remain } from '../../../providers/clouds.ts';
import { readLaptopRecord } from '../../../state/cluster-record.ts';
import { readConfig, specOf } from '../../../state/load-spec.ts';
import { stateFolder, stateHome } from '../../../state/state-folder.ts';
import type { Io } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import type { DownSettings } from './down.ts';

/** `down` of a cluster of other machines. Exit code 1 when something is left somewhere that was not given up; it is named. */
export async function bringDownRemote(meant: MeantCluster, settings: DownSettings, io: Io): Promise<number> {
  const withoutHead = await endedWithoutHead(meant, settings, io);
  if (withoutHead !== undefined) return withoutHead;
  const cluster = openIfKnown(meant, io);
  if (cluster === undefined) return 0;
  const { name } = cluster;
  const { yes = false, keepMinWorkers = false, forget = false } = settings;
  const workersOnly = settings.workersOnly === true || keepMinWorkers;
  let begun = false;
  try {
    const what = workersOnly ? `the workers of '${name}'` : `the cluster '${name}'`;
    const hosts = `${cluster.workerAddresses.length + (workersOnly ? 0 : 1)} hosts`;
    const question = `Shut down ${what} on ${hosts}, and everything running there?`;
    if (!(await confirmed(question, yes, io, { nobody: () => launcherErrors.NotConfirmed({ name }) }))) {
      io.out('Nothing was shut down.\n');
      return 1;
    }
    begun = true;
    const inCloud = cluster.spec.provider.kind === 'cloud';
    const end = inCloud ? (await import('../../../launcher/down/cloud.ts')).downCloud : downRemote;
    const edges = { env: io.env, clock: wallClock, events: io.events };
    const result = await end({ cluster, workersOnly, keepMinWorkers, forget, ...edges }, io.signal);
    return tell(name, result, forget, io);
  } finally {
    if (begun && io.signal.aborted) io.events.emit(launcherEvents.cutShort, { name, what: 'down' });
    await cluster.close();
  }
}

/** Says what came of it; the exit code. */
function tell(name: string, { wasThere, ended, left, remains }: DownRemoteResult, forget: boolean, io: Io): number {
  const stuck = remains?.filter(({ keeps }) => keeps === undefined) ?? [];
  if (io.json) io.out(`${JSON.stringify({ name, wasThere, ended, left, ...(remains && { remains }) })}\n`);
  else if (left.length > 0) io.out(leftText(name, ended.length, left, forget));
  else {
    const rest = (remains ?? []).length === 0 ? ', nothing is left' : '';
    io.out(
      wasThere
        ? `The cluster '${name}' is down: checked ${ended.length} hosts${rest}.\n${remainsText(remains ?? [])}`
        : `There was no cluster '${name}': checked ${ended.length} hosts, found nothing.\n`,
    );
  }
  return (left.length === 0 && stuck.length === 0) || forget ? 0 : 1;
}

/**
 * A cloud's cluster whose head this machine does not know: it never came, or is gone, or another machine started it. It is
 * ended by the cloud's own list. Undefined for any other cluster.
 */
async function endedWithoutHead(meant: MeantCluster, settings: DownSettings, io: Io): Promise<number | undefined> {
  const { name, file: given } = meant;
  const { yes = false, forget = false, workersOnly = false, keepMinWorkers = false } = settings;
  if (workersOnly || keepMinWorkers) return undefined;
  const folder = stateFolder(stateHome(io.env), name);
  const known = readLaptopRecord(folder);
  const file = known?.config === undefined ? given : readConfig(known.config, given);
  if (file === undefined || known?.remote.address !== undefined || specOf(file).provider.kind !== 'cloud')
    return undefined;
  const { adopt, downWithoutHead, findInCloud } = await import('../../../launcher/down/cloud.ts');
  const request = { folder, file, env: io.env, clock: wallClock, events: io.events };
  if (known?.remote.clusterId !== undefined)
    return tell(name, await downWithoutHead(request, { unseen: 0, forget }, io.signal), forget, io);
  const found = await findInCloud(request, io.signal);
  if (found === undefined) return undefined;
  const count = `${found.instances.length} ${found.instances.length === 1 ? 'instance' : 'instances'}`;
  const question = `Another machine started the cluster '${name}' (${count} in ${file.spec.provider.type}). Shut it down, and everything running there?`;
  if (!(await confirmed(question, yes, io, { nobody: () => launcherErrors.NotConfirmed({ name }) }))) {
    io.out('Nothing was shut down.\n');
    return 1;
  }
  adopt(request, found);
  // Its mantad may have launched something a moment ago.
  return tell(name, await downWithoutHead(request, { unseen: listsLag, forget }, io.signal), forget, io);
}

/** Undefined for a cloud's cluster of which nothing is known, here or there, which is said: `down` may be repeated. */
function openIfKnown(meant: MeantCluster, io: Io): RemoteCluster | undefined {
  try {
    const home = stateHome(io.env);
    const cluster = openRemote({ home, ...asStarted(home, meant) });
    const moved = meant.file && startedElsewhere(cluster);
    if (!moved) return cluster;
    // What was started is what is ended, whatever the file has become since.
    io.events.emit(launcherEvents.endsElsewhere, { name: cluster.name, ...moved });
    return openRemote({ home, name: cluster.name });
  } catch (error) {
    if (!launcherErrors.NotUpYet.is(error)) throw error;
    const { name } = error.data;
    if (io.json) io.out(`${JSON.stringify({ name, wasThere: false, ended: [], left: [] })}\n`);
    else io.out(`No cluster '${name}' is known on this machine; nothing to do.\n`);
    return undefined;
  }
}

/** In a cloud, what was started is what is ended: a file that names another region by now would look for it there. */
function asStarted(home: string, meant: MeantCluster): MeantCluster {
  const { remote, config } = readLaptopRecord(stateFolder(home, meant.name)) ?? {};
  if (remote?.clusterId === undefined || config === undefined) return meant;
  try {
    return { name: meant.name, file: readConfig(config, meant.file) };
  } catch {
    // Written by another Manta, perhaps: the file that is given is all there is to go by.
    return meant;
  }
}

function leftText(name: string, ended: number, left: DownRemoteResult['left'], forget: boolean): string {
  const hosts = left.map(({ host, why }) => `  ${why.startsWith(host) ? why : `${host}: ${why}`}`).join('\n');
  return forget
    ? `The cluster '${name}' is down on ${ended} hosts. These hosts were given up and may still be running parts of it:\n${hosts}\n`
    : `The cluster '${name}' is down on ${ended} hosts, but not on these:\n${hosts}\nRun it again when they respond, or add --forget to give up on them.\n`;
}

function remainsText(remains: readonly Remain[]): string {
  const lineOf = (remain: Remain): string =>
    `  ${remain.kind} ${remain.id}: ${whyOf(remain)}${remain.cost === undefined ? '' : `, $${remain.cost.toFixed(2)} a month`}\n`;
  const [kept, stuck] = [true, false].map((keeps) => remains.filter((each) => (each.keeps !== undefined) === keeps));
  const keptText = kept?.length ? `These stay in the cloud:\n${kept.map(lineOf).join('')}` : '';
  const stuckText = stuck?.length
    ? `These should be gone but are still in the cloud:\n${stuck.map(lineOf).join('')}Run it again to retry, or delete them in the cloud.\n`
    : '';
  return keptText + stuckText;
}
