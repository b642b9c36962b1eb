import { resolve } from 'node:path';
import { execErrors } from '../../launcher/exec-errors.ts';
import { execEvents } from '../../launcher/exec-events.ts';
import { copyScript, scriptCommand } from '../../launcher/submit.ts';
import type { Run } from '../command.ts';
import { runCommand } from './exec.ts';
import { SoughtCluster, withClusterHead } from './exec-head.ts';
import { start } from './exec-start-stop.ts';
import type { submitOptions } from './launch.ts';

export const run: Run<typeof submitOptions> = async (invocation, io) => {
  const { options, cluster: word } = invocation;
  const [, script, ...words] = invocation.args as readonly [string, string, ...string[]];
  const { args: text } = options;
  if (text !== undefined && words.length > 0) throw execErrors.ArgsTwice({});
  if (text !== undefined) io.events.emit(execEvents.argsDeprecated, {});
  const path = resolve(io.cwd, script);
  const sought = new SoughtCluster(invocation, io);
  if (options.start) await start(await sought.find(), options, io);
  return await withClusterHead(sought, io, async (cluster) => {
    await copyScript(cluster.head, cluster.place, path, io.signal);
    const command = scriptCommand({ path, words, ...(text !== undefined && { text }) });
    return await runCommand({ cluster, sought, command, word, where: 'docker' }, options, io);
  });
};
