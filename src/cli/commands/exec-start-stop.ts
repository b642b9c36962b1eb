import { execErrors } from '../../launcher/exec-errors.ts';
import type { Invocation, Io } from '../command.ts';

/** `--start`: brings the cluster up when there is none, and then goes on. */
export async function startedIfAbsent(invocation: Invocation, io: Io, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (invocation.options['start'] !== true || !execErrors.NotUp.is(error)) throw error;
  }
  await start(invocation, io);
  return await work();
}

/** Brings the cluster up, or to what its file says. Its summary is not part of this command's output. */
export async function start(invocation: Invocation, io: Io): Promise<void> {
  const { run } = await import('./up.ts');
  await run(asked(invocation, ['disable-usage-stats']), withoutResult(io));
}

/** `--stop`: ends the cluster when the work has ended, however it ended, unless it could not be reached at all. */
export async function stoppedAfter(invocation: Invocation, io: Io, work: () => Promise<number>): Promise<number> {
  const code = await work();
  if (invocation.options['stop'] !== true) return code;
  const { run } = await import('./down.ts');
  const down = await run(asked(invocation, []), withoutResult(io));
  return code === 0 ? down : code;
}

/** A copy would open standard input, which is for the command on the node. */
const withoutResult = (io: Io): Io => Object.assign(Object.create(io) as Io, { out: () => {} });

/** The same cluster, with `--yes`, for another command. */
function asked({ cluster, options }: Invocation, kept: readonly string[]): Invocation {
  const names = ['cluster-name', ...kept].filter((name) => options[name] !== undefined);
  const same = Object.fromEntries(names.map((name) => [name, options[name]!]));
  const args = cluster === undefined ? [] : [cluster];
  return { args, options: { ...same, yes: true }, rest: [], ...(cluster !== undefined && { cluster }) };
}
