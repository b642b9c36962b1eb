import { createInterface } from 'node:readline/promises';
import { wallClock } from '../../base/wall-clock.ts';
import { loadSpec } from '../../head/load-spec.ts';
import { readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import { isCloud } from '../../providers/clouds.ts';
import type { Invocation, Io } from '../command.ts';
import type { MeantCluster } from './which-cluster.ts';

/** Sees to it that a cluster of a cloud has an instance for its head, after asking; true where it has, or needs none. */
export async function headInCloud({ options }: Invocation, { name, file }: MeantCluster, io: Io): Promise<boolean> {
  const known = name === undefined ? undefined : readCluster(stateFolder(stateHome(io.env), name));
  const config = file ?? known?.config;
  if (config === undefined) return true;
  const spec = loadSpec({ name: name ?? 'default', config });
  if (!isCloud(spec.provider.type)) return true;
  const folder = stateFolder(stateHome(io.env), name ?? spec.name);
  if (known?.remote?.instance === undefined) {
    const plan = `New cluster '${folder.name}' on ${spec.provider.type}: an instance of ${spec.headType} for the head, and ${spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0)} workers to begin with.\n`;
    if (options['plan'] === true) {
      io.out(io.json ? `${JSON.stringify({ name: folder.name, done: false, plan })}\n` : plan);
      return false;
    }
    if (options['yes'] !== true && !(await agreed(folder.name, plan, io))) return false;
  }
  const { ensureCloudHead } = await import('../../launcher/cloud-head.ts');
  await ensureCloudHead({ folder, config, env: io.env, clock: wallClock, events: io.events }, io.signal);
  return true;
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
