import { resolve } from 'node:path';
import { wallClock } from '../../base/wall-clock.ts';
import { rayVersion } from '../../core/ray-version.ts';
import { loadSpec } from '../../head/load-spec.ts';
import { type ClusterFile, type RayPython, readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { findRay, makeRay } from '../../launcher/ray-venv.ts';
import { rayVenvErrors } from '../../launcher/ray-venv-errors.ts';
import { rayVenvEvents } from '../../launcher/ray-venv-events.ts';
import { isRemote } from '../../launcher/remote-cluster.ts';
import { up } from '../../launcher/up.ts';
import type { Invocation, Io, Run } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { quoted } from '../quote.ts';
import { turnOffLine, turnOffOf, untilGiven } from './turn-off-words.ts';
import { type MeantCluster, whichCluster } from './which-cluster.ts';

export const run: Run = async (invocation, io) => {
  const meant = await whichCluster(invocation, io);
  if (isOfOtherMachines(meant, io)) {
    if (engineOf(invocation)) throw rayVenvErrors.OtherMachines({ engine: engineOf(invocation) as string });
    const { runUpRemote } = await import('./up-remote.ts');
    return await runUpRemote(invocation, meant, io);
  }
  return await runHere(invocation, meant, io);
};

/** By its file, or by what is known of it here. */
export function isOfOtherMachines({ name, file }: MeantCluster, io: Io): boolean {
  if (file !== undefined) return isRemote(loadSpec({ name: name ?? 'default', config: file }));
  if (name === undefined) return false;
  return readCluster(stateFolder(stateHome(io.env), name))?.remote !== undefined;
}

async function runHere({ args, options }: Invocation, meant: MeantCluster, io: Io): Promise<number> {
  const [path] = args;
  const number = (key: string): number | undefined => options[key] as number | undefined;
  const minWorkers = number('min-workers');
  const maxWorkers = number('max-workers');
  const port = number('port');
  const until = untilGiven(options)?.(Date.now());
  const engine = engineOf({ options });
  const { folder, serving, done } = await up(
    {
      home: stateHome(io.env),
      ...meant,
      overrides: { ...(minWorkers !== undefined && { minWorkers }), ...(maxWorkers !== undefined && { maxWorkers }) },
      ...(engine && { engine }),
      findRay: () => findOrMakeRay(options['yes'] === true, io),
      ...(port !== undefined && { port }),
      ...(until !== undefined && { until }),
      clock: wallClock,
      events: io.events,
    },
    io.signal,
  );
  const turnOff = await turnOffOf(folder.name, io);
  const boot = path === '-' ? undefined : bootCommand(folder.name, meant.file?.path, options, io);
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

const engineOf = ({ options }: Pick<Invocation, 'options'>): ClusterFile['engine'] | undefined =>
  options['engine'] as ClusterFile['engine'] | undefined;

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
function bootCommand(name: string, file: string | undefined, options: Invocation['options'], io: Io): string {
  const given = ['min-workers', 'max-workers', 'port', 'engine'].flatMap((key) =>
    options[key] === undefined ? [] : [`--${key}`, String(options[key])],
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
