import type { Command } from './command.ts';
import { commands } from './commands.ts';
import type { ProcessContext, Stop } from './main.ts';
import { main, reportFault } from './main.ts';

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The whole program: wires the process to `main` and exits with its code. */
export async function start(table: readonly Command[] = commands): Promise<void> {
  const typed = process.argv.slice(2);
  // The first word from the `ray` of `manta shim`; an environment variable would reach everything that is started.
  const asRay = typed[0] === '--as-ray';
  const words = asRay ? typed.slice(1) : typed;
  const stop = new AbortController();
  let onInterrupt: (() => void) | undefined;
  process.on('uncaughtException', (thrown) => process.exit(reportFault(thrown, words, process)));
  for (const signal of Object.keys(signals) as (keyof typeof signals)[]) {
    process.on(signal, () => {
      if (signal === 'SIGINT' && onInterrupt !== undefined) return onInterrupt();
      const exit = signals[signal];
      // Anyone who asks twice does not want to wait for the tidying.
      if (stop.signal.aborted) process.exit(exit);
      stop.abort({ signal, exit } satisfies Stop);
    });
  }
  const surroundings: ProcessContext = {
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: () => process.cwd(),
    asRay,
    takeInterrupts(listener) {
      onInterrupt = listener;
      return () => {
        onInterrupt = undefined;
      };
    },
  };
  process.exit(await main(words, surroundings, stop, table));
}
