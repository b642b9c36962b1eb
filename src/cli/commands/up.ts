import { resolve } from 'node:path';
import { wallClock } from '../../base/wall-clock.ts';
import { rayVersion } from '../../core/ray-version.ts';
import type { MeantCluster } from '../../head/client/target.ts';
import { type ClusterFile, type RayPython, stateHome } from '../../head/state-folder.ts';
import { findRay, makeRay } from '../../launcher/ray-venv.ts';
import { rayVenvErrors } from '../../launcher/ray-venv-errors.ts';
import { rayVenvEvents } from '../../launcher/ray-venv-events.ts';
import { isOfOtherMachines } from '../../launcher/remote-cluster.ts';
import { planHere, up } from '../../launcher/up.ts';
import type { Io, Run } from '../command.ts';
import { confirmed } from '../confirm.ts';
import type { OptionValues } from '../option-values.ts';
import { quoted } from '../quote.ts';
import { findCluster } from './find-cluster.ts';
import { turnOffLine, turnOffOf, untilGiven } from './turn-off-words.ts';
import type { upOptions } from './up-down.ts';
import { localPlanText } from './up-plan-text.ts';

/** What `up` was told; what is missing was not said. */
export type UpSettings = Partial<OptionValues<typeof upOptions>>;

export const run: Run<typeof upOptions> = async (invocation, io) =>
  await bringUp(await findCluster(invocation, io, () => 'default'), invocation.options, io);

/** Brings a cluster up, or to what its file says. */
export async function bringUp(meant: MeantCluster, settings: UpSettings, io: Io): Promise<number> {
  if (!isOfOtherMachines({ home: stateHome(io.env), ...meant })) return await bringUpHere(meant, settings, io);
  const { engine } = settings;
  if (engine !== undefined) throw rayVenvErrors.OtherMachines({ engine });
  const { bringUpRemote } = await import('./up-remote.ts');
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
export const overridesIn = ({ minWorkers, maxWorkers }: UpSettings): NonNullable<ClusterFile['overrides']> => ({
  ...(minWorkers !== undefined && { minWorkers }),
  ...(maxWorkers !== undefined && { maxWorkers }),
});

/** The Ray of this machine; where there is none, one that is installed when the user agrees. */
async function findOrMakeRay(yes: boolean, io: Io): Promise<RayPython> {
  const search = { env: io.env, home: stateHome(io.env), events: io.events, signal: io.signal };
  const found = await findRay(search);
  if (found !== undefined) {
    io.events.emit(rayVenvEvents.using, { version: found.version, python: found.path });
    return found;
  }
  const question = `There is no Ray on this machine. Install Ray ${rayVersion} (about 500 MB) into ${search.home}/ray?`;
  if (!(await confirmed(question, yes, io))) throw rayVenvErrors.Declined({ version: rayVersion });
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
    nothing: `The cluster '${name}' runs already, as the request says.`,
    applied: `The cluster '${name}' runs with the new settings; its jobs were not touched.`,
    started: `The cluster '${name}' runs.`,
  }[done];
  return `${first}

  page               manta dashboard${of}   (${url})
  run something      manta job submit${of} -- python train.py
  see it scale       manta status${of}
  for Ray's tools    eval "$(manta env${of})"
  end it             manta down${of}
`;
}
