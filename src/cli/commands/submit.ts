import { resolve } from 'node:path';
import { execErrors } from '../../launcher/exec-errors.ts';
import { execEvents } from '../../launcher/exec-events.ts';
import { copyScript, scriptCommand } from '../../launcher/submit.ts';
import type { Run } from '../command.ts';
import { runCommand } from './exec.ts';
import { withClusterHead } from './exec-head.ts';
import { start } from './exec-start-stop.ts';

export const run: Run = async (invocation, io) => {
  const [, script, ...words] = invocation.args as readonly [string, string, ...string[]];
  const text = invocation.options['args'] as string | undefined;
  if (text !== undefined && words.length > 0) throw execErrors.ArgsTwice({});
  if (text !== undefined) io.events.emit(execEvents.argsDeprecated, {});
  const path = resolve(io.cwd, script);
  if (invocation.options['start'] === true) await start(invocation, io);
  return await withClusterHead(invocation, io, async (cluster) => {
    await copyScript(cluster.head, cluster.place, path, io.signal);
    const command = scriptCommand({ path, words, ...(text !== undefined && { text }) });
    return await runCommand(
      cluster,
      command,
      { ...invocation, options: { ...invocation.options, 'run-env': 'docker' } },
      io,
    );
  });
};
