import { resolve } from 'node:path';
import { launcherErrors } from '../../../launcher/errors.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import { copyScript, scriptCommand } from '../../../launcher/exec/submit.ts';
import type { Run } from '../../command.ts';
import { ClusterLookup, withClusterHead } from '../../shared/cluster-head.ts';
import type { submitOptions } from './declaration.ts';
import { runCommand } from './exec.ts';
import { start } from './start-stop.ts';

export const run: Run<typeof submitOptions> = async (invocation, io) => {
  const { options, cluster: word } = invocation;
  const [, script, ...words] = invocation.args as readonly [string, string, ...string[]];
  const { args: text } = options;
  if (text !== undefined && words.length > 0) throw launcherErrors.ExecArgsTwice({});
  if (text !== undefined) io.events.emit(launcherEvents.execArgsDeprecated, {});
  const path = resolve(io.cwd, script);
  const lookup = new ClusterLookup(invocation, io);
  if (options.start) await start(await lookup.find(), options, io);
  return await withClusterHead(lookup, io, async (cluster) => {
    await copyScript(cluster.head, cluster.place, path, io.signal);
    const command = scriptCommand({ path, words, ...(text !== undefined && { text }) });
    return await runCommand({ cluster, lookup, command, word, where: 'docker' }, options, io);
  });
};
