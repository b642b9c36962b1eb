import type { Host, RunOptions } from '../base/host.ts';
import { markVariable } from '../base/process.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { markPattern } from './ray-processes.ts';
import { environmentFile } from './shell-text.ts';

/**
 * How many sessions of users (exec, attach, submit, in tmux and screen or not) run on the head's host: sets of processes
 * that carry the mark of a session, or were started to get it. A window that is left open behind a command that has ended
 * is none.
 */
export async function runningSessions(host: Host, cluster: string, options: RunOptions): Promise<number> {
  const { stdout } = await host.sh(lookText(cluster), options);
  if (!/^looked$/m.test(stdout)) throw new Error(`the sessions on ${host.name} could not be looked at`);
  return new Set([...stdout.matchAll(/^session (\d+)$/gm)].map((match) => match[1])).size;
}

/** A shell shows the environment it was started with, and not what it has set since: what it was told to read is in its words. */
function lookText(cluster: string): string {
  const mark = shellQuoted(`${markVariable}=[^[:cntrl:]]*${markPattern(cluster)}session:`);
  const words = shellQuoted(`[f]=~/${environmentFile(cluster).replaceAll('.', '\\.')}; if`);
  return `cd /proc || exit 1
for f in $(grep -las -e ${mark} [0-9]*/environ; grep -las -e ${words} [0-9]*/cmdline); do
  { read -r l <"\${f%%/*}/stat"; } 2>/dev/null || continue
  set -- \${l##*) }
  [ "$1" = Z ] || echo "session $4"
done
echo looked
`;
}
