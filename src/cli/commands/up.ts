import { resolve } from 'node:path';
import { wallClock } from '../../base/wall-clock.ts';
import { specErrors } from '../../core/spec/errors.ts';
import { stateHome } from '../../head/state-folder.ts';
import { type UpRequest, up } from '../../launcher/up.ts';
import type { Invocation, Io, Run } from '../command.ts';
import { isError, loadFile } from './config-file.ts';
import { quoted } from './job-submission.ts';

export const run: Run = async ({ args, options }, io) => {
  const [path] = args;
  const number = (key: string): number | undefined => options[key] as number | undefined;
  const minWorkers = number('min-workers');
  const maxWorkers = number('max-workers');
  const port = number('port');
  const name = options['cluster-name'] as string | undefined;
  const { folder, serving, done } = await up(
    {
      home: stateHome(io.env),
      ...(name !== undefined && { name }),
      ...(path !== undefined && { file: await readGiven(path, io) }),
      overrides: { ...(minWorkers !== undefined && { minWorkers }), ...(maxWorkers !== undefined && { maxWorkers }) },
      ...(port !== undefined && { port }),
      clock: wallClock,
      events: io.events,
    },
    io.signal,
  );
  const boot = path === '-' ? undefined : bootCommand(folder.name, path, options, io);
  if (io.json) io.out(`${JSON.stringify({ name: folder.name, url: serving.url, done, folder: folder.path, boot })}\n`);
  else
    io.out(
      summary(folder.name, serving.url, done) + (boot ? `  start it at boot   @reboot ${boot}   (crontab -e)\n` : ''),
    );
  return 0;
};

/** The same request again, in words that need neither this shell's folder nor its path. */
function bootCommand(name: string, file: string | undefined, options: Invocation['options'], io: Io): string {
  const given = ['min-workers', 'max-workers', 'port'].flatMap((key) =>
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

/** A cluster file with the values of the variables it names, so that the daemon needs neither this shell nor a `.env`. */
export async function readGiven(path: string, io: Io): Promise<NonNullable<UpRequest['file']>> {
  const loaded = await loadFile(path, io);
  const errors = loaded.problems.filter(isError);
  const [first] = errors;
  if (first !== undefined)
    throw specErrors.Refused({
      file: path,
      errors: errors.length,
      first: `${first.at.line}:${first.at.column}: ${first.message}`,
      hint: first.hint,
    });
  const text = Buffer.from(loaded.bytes).toString('utf8');
  const used = [...text.matchAll(/\$\{env:([A-Za-z_]\w*)\}/g)].map((match) => match[1] as string);
  return {
    path: path === '-' ? path : resolve(io.cwd, path),
    text,
    env: Object.fromEntries(used.map((name) => [name, loaded.env[name] ?? ''])),
  };
}
