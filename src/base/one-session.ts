import type { Host, HostResult, RunOptions } from './host.ts';
import { newMark } from './shell/host-program.ts';
import { sshErrors } from './ssh/errors.ts';

/** What programs are run on. */
export type ProgramHost = Pick<Host, 'name' | 'sh'>;

interface Asked {
  readonly program: string;
  readonly options: RunOptions;
  readonly settle: (result: HostResult) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A host whose programs, where several are asked for at once, run in one session, in the order in which they were asked
 * for and each in a shell of its own. A session costs a host more than most of what is run in it.
 */
export function inOneSession(host: ProgramHost): ProgramHost {
  let waiting: Asked[] = [];
  const run = (): void => {
    const all = waiting;
    waiting = [];
    runAll(host, all).catch((error: unknown) => {
      for (const { fail } of all) fail(error);
    });
  };
  return {
    name: host.name,
    sh: (program, options) =>
      new Promise((settle, fail) => {
        if (waiting.length === 0) queueMicrotask(run);
        waiting.push({ program, options, settle, fail });
      }),
  };
}

async function runAll(host: ProgramHost, all: readonly Asked[]): Promise<void> {
  const [first, second] = all;
  if (first === undefined) return;
  if (second === undefined) return first.settle(await host.sh(first.program, first.options));
  const mark = newMark();
  const text = all.map(
    ({ program }) => `( :\n${program}\n)\nprintf '\\n${mark} %s\\n' $?; printf '\\n${mark}\\n' >&2\n`,
  );
  const { stdout, stderr } = await host.sh(text.join(''), {
    signal: AbortSignal.any(all.map(({ options }) => options.signal)),
    within: all.reduce((sum, { options }) => sum + (options.within ?? 60_000), 0),
  });
  const said = stdout.split(new RegExp(`\\n${mark} (\\d+)\\n`));
  const errors = stderr.split(`\n${mark}\n`);
  for (const [index, { settle, fail }] of all.entries()) {
    const code = said[2 * index + 1];
    if (code !== undefined) settle({ code: Number(code), stdout: said[2 * index] ?? '', stderr: errors[index] ?? '' });
    else fail(sshErrors.Dropped({ host: host.name, during: 'running', detail: 'its shell exited early' }));
  }
}
