import type { MeantCluster } from '../../../client/target.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import type { Io } from '../../command.ts';
import type { UpSettings } from '../up/up.ts';

/** What gives the cluster that is meant, each time the same. */
type Finds = () => Promise<MeantCluster>;

/** `--start`: brings the cluster up when there is none, and then goes on. */
export async function startedIfAbsent(
  options: UpSettings & { readonly start: boolean },
  find: Finds,
  io: Io,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    // A cloud's cluster that has no machine yet is not even known where to look for.
    const absent = launcherErrors.ExecNotUp.is(error) || launcherErrors.NotUpYet.is(error);
    if (!options.start || !absent) throw error;
  }
  await start(await find(), options, io);
  return await work();
}

/** Brings the cluster up, or to what its file says. Its summary is not part of this command's output. */
export async function start(meant: MeantCluster, { disableUsageStats = false }: UpSettings, io: Io): Promise<void> {
  const { bringUp } = await import('../up/up.ts');
  await bringUp(meant, { yes: true, disableUsageStats }, withoutResult(io));
}

/** `--stop`: ends the cluster when the work has ended, however it ended, unless it could not be reached at all. */
export async function stoppedAfter(stop: boolean, find: Finds, io: Io, work: () => Promise<number>): Promise<number> {
  const code = await work();
  if (!stop) return code;
  const { bringDown } = await import('../down/down.ts');
  const down = await bringDown(await find(), { yes: true }, withoutResult(io));
  return code === 0 ? down : code;
}

/** A copy would open standard input, which is for the command on the node. */
const withoutResult = (io: Io): Io => Object.assign(Object.create(io) as Io, { out: () => {} });
