import { createInterface } from 'node:readline/promises';
import { wallClock } from '../../base/wall-clock.ts';
import { loadSpec } from '../../head/load-spec.ts';
import { type ClusterFile, readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import { localFiles } from '../../launcher/mounts.ts';
import { isCloud } from '../../providers/clouds.ts';
import type { Invocation, Io } from '../command.ts';
import type { MeantCluster } from './which-cluster.ts';

/**
 * Sees to it that a cluster of a cloud has an instance for its head, after asking. `agreed`: the user has said yes to it.
 * `there`: nothing had to be asked, because it is there or none is needed.
 */
export async function headInCloud(
  { options }: Invocation,
  { name, file }: MeantCluster,
  overrides: NonNullable<ClusterFile['overrides']>,
  io: Io,
): Promise<'there' | 'agreed' | 'declined'> {
  const known = name === undefined ? undefined : readCluster(stateFolder(stateHome(io.env), name));
  const config = file ?? known?.config;
  if (config === undefined) return 'there';
  const spec = loadSpec({ name: name ?? 'default', config, overrides });
  if (!isCloud(spec.provider.type)) return 'there';
  const folder = stateFolder(stateHome(io.env), name ?? spec.name);
  // What can be found wrong here is found before anything costs money.
  localFiles(spec, config.path, io.cwd);
  const { ensureCloudHead, hasCloudHead } = await import('../../launcher/cloud-head.ts');
  const request = { folder, config, env: io.env, clock: wallClock, events: io.events };
  const there = await hasCloudHead(request, io.signal);
  const reachable = there && known?.remote?.address !== undefined;
  if (options['plan'] === true && reachable) return 'there';
  if (options['plan'] === true || !there) {
    const workers = spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0);
    const plan = `${known === undefined ? 'New cluster' : 'Cluster'} '${folder.name}' on ${spec.provider.type}: ${
      there ? 'the head is on its way' : `an instance of ${spec.headType} for the head`
    }, and ${workers} ${workers === 1 ? 'worker' : 'workers'} to begin with.\n`;
    if (options['plan'] === true) {
      io.out(io.json ? `${JSON.stringify({ name: folder.name, done: false, plan })}\n` : plan);
      return 'declined';
    }
    if (options['yes'] !== true && !(await agreed(folder.name, plan, io))) return 'declined';
  }
  await ensureCloudHead(request, io.signal);
  return there ? 'there' : 'agreed';
}

async function agreed(name: string, plan: string, io: Io): Promise<boolean> {
  if (!io.terminal) throw launcherErrors.NotAgreed({ name, plan });
  process.stderr.write(plan);
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question('Go on? [y/N] ', { signal: io.signal })).trim());
  } finally {
    lines.close();
  }
}
