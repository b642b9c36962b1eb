import { resolve } from 'node:path';
import { wallClock } from '../../../base/time/wall-clock.ts';
import type { MeantCluster } from '../../../client/target.ts';
import { rayVersion } from '../../../core/ray-version.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import { isOfOtherMachines } from '../../../launcher/reach/remote-cluster.ts';
import { findRay, makeRay } from '../../../launcher/up/ray-venv.ts';
import { planHere, up } from '../../../launcher/up/this-machine.ts';
import type { ClusterRecord, RayPython } from '../../../state/cluster-record.ts';
import { stateHome } from '../../../state/state-folder.ts';
import type { Io, Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import type { OptionValues } from '../../option-values.ts';
import { quoted } from '../../quote.ts';
import { findCluster } from '../../shared/find-cluster.ts';
import { turnOffLine, turnOffOf, untilGiven } from '../../shared/turn-off-words.ts';
import type { upOptions } from './declaration.ts';
import { localPlanText } from './plan-text.ts';

/** What `up` was told; what is missing was not said. */
export type UpSettings = Partial<OptionValues<typeof upOptions>>;

export const run: Run<typeof upOptions> = async (invocation, io) =>
  await bringUp(await findCluster(invocation, io, () => 'default'), invocation.options, io);

/** Brings a cluster up, or to what its file says. */
export async function bringUp(meant: MeantCluster, settings: UpSettings, io: Io): Promise<number> {
  if (!isOfOtherMachines({ home: stateHome(io.env), ...meant })) return await bringUpHere(meant, settings, io);
  const { engine } = settings;
  if (engine !== undefined) throw launcherErrors.VenvOtherMachines({ engine });
  const { bringUpRemote } = await import('./remote.ts');
  return await bringUpRemote(meant, settings, io);
}

async function bringUpHere(meant: MeantCluster, settings: UpSettings, io: Io): Promise<number> {
  const { port, engine } = settings;
  const until = untilGiven(settings)?.(Date.now());
  const request = {
    home: stateHome(io.env),
    ...meant,
    overrides: overridesIn(settings),
    ...(engine && { engine }),
    findRay: () => findOrMakeRay(settings.yes === true, io),
    ...(port !== undefined && { port }),
    ...(until !== undefined && { until }),
    clock: wallClock,
    events: io.events,
  };
  if (settings.plan === true) {
    const plan = planHere(request);
    io.out(io.json ? `${JSON.stringify({ plan })}\n` : localPlanText(plan));
    return 0;
  }
  const { folder, serving, done } = await up(request, io.signal);
  const turnOff = await turnOffOf(folder.name, io);
  const path = meant.file?.config.path;
  const boot = path === '-' ? undefined : bootCommand(folder.name, path, settings, io);
  if (io.json)
    io.out(
      `${JSON.stringify({ name: folder.name, url: serving.url, done, folder: folder.path, boot, ...(turnOff && { turnOff }) })}\n`,
    );
  else
    io.out(
      summary(folder.name, serving.url, done) +
        turnOffLine(turnOff) +
        (boot ? `  start it at boot   @reboot ${boot}   (crontab -e)\n` : ''),
    );
  return 0;
}

/** Limits that win over the file. */
export const overridesIn = ({ minWorkers, maxWorkers }: UpSettings): NonNullable<ClusterRecord['overrides']> => ({
  ...(minWorkers !== undefined && { minWorkers }),
  ...(maxWorkers !== undefined && { maxWorkers }),
});

/** The Ray of this machine; where there is none, one that is installed when the user agrees. */
async function findOrMakeRay(yes: boolean, io: Io): Promise<RayPython> {
  const search = { env: io.env, home: stateHome(io.env), events: io.events, signal: io.signal };
  const found = await findRay(search);
  if (found !== undefined) {
    io.events.emit(launcherEvents.venvUsing, { version: found.version, python: found.path });
    return found;
  }
  const question = `Ray is not installed on this machine. Install Ray ${rayVersion} (about 500 MB) into ${search.home}/ray?`;
  if (!(await confirmed(question, yes, io))) throw launcherErrors.VenvDeclined({ version: rayVersion });
  return await makeRay(search);
}

/** The same request again, in words that need neither this shell's folder nor its path. */
function bootCommand(name: string, file: string | undefined, settings: UpSettings, io: Io): string {
  const { minWorkers, maxWorkers, port, engine } = settings;
  const said = { 'min-workers': minWorkers, 'max-workers': maxWorkers, port, engine };
  const given = Object.entries(said).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option}`, String(value)],
  );
  const home = io.env['MANTA_HOME'] ? `MANTA_HOME=${quoted(resolve(io.cwd, io.env['MANTA_HOME']))} ` : '';
  const words = [process.execPath, process.argv[1] ?? 'manta', 'up', '-n', name, ...given];
  return home + [...words, ...(file === undefined ? [] : [resolve(io.cwd, file)])].map(quoted).join(' ');
}

function summary(name: string, url: string, done: string): string {
  const of = name === 'default' ? '' : ` -n ${name}`;
  const first = {
    nothing: `The cluster '${name}' is already running and up to date.`,
    applied: `The cluster '${name}' is running with the new settings; its jobs were not affected.`,
    started: `The cluster '${name}' is running.`,
  }[done];
  return `${first}

  open its page      manta dashboard${of}   (${url})
  run a command      manta job submit${of} -- python train.py
  show its status    manta status${of}
  use Ray's tools    eval "$(manta env${of})"
  shut it down       manta down${of}
`;
}
