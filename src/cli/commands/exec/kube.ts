import type { PodHost } from '../../../base/kube/pod-host.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { guardedText } from '../../../launcher/exec/command-text.ts';
import { newMark, openText } from '../../../launcher/exec/exec.ts';
import { portForwards } from '../../../launcher/reach/port-forward.ts';
import type { Io } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import type { OptionValues } from '../../option-values.ts';
import { atTerminal } from '../../shared/cluster-head.ts';
import { type KubeSaid, withPod } from '../../shared/kube-cluster.ts';
import type { attachOptions, execOptions } from './declaration.ts';

type ExecOptions = OptionValues<typeof execOptions>;
type AttachOptions = OptionValues<typeof attachOptions>;

/** Runs a command in Ray's container of the head pod. */
export async function execOnKube(said: KubeSaid, command: string, options: ExecOptions, io: Io): Promise<number> {
  refuse(options, ['start', 'stop', 'tmux', 'screen']);
  return await withPod(said, io, (host) => runIn(host, { command, ports: options.portForward ?? [] }, io));
}

/** Opens a shell there, or in another pod of the cluster. */
export async function attachOnKube(said: KubeSaid, options: AttachOptions, io: Io): Promise<number> {
  refuse(options, ['start', 'tmux', 'screen', 'session']);
  return await withPod(said, io, (host) => runIn(host, { ports: options.portForward ?? [] }, io), options.nodeIp);
}

/** A pod has no sessions that outlive it, and KubeRay starts and ends clusters by their manifests. */
function refuse(
  options: Partial<ExecOptions & AttachOptions>,
  names: readonly (keyof ExecOptions | keyof AttachOptions)[],
): void {
  const given = names.find((name) => options[name] !== undefined && options[name] !== false);
  if (given !== undefined) throw cliErrors.NotForKube({ option: `--${given}` });
}

async function runIn(
  host: PodHost,
  { command, ports }: { readonly command?: string; readonly ports: readonly number[] },
  io: Io,
): Promise<number> {
  const forwards = await portForwards(ports);
  const terminal = atTerminal();
  const text = guardedText({
    cluster: host.name,
    place: { kind: 'host' },
    terminal,
    mark: newMark(),
    ...(command !== undefined && { command }),
  });
  const code = await openText(
    { host, stdio: 'inherit', terminal, ...(forwards.length > 0 && { forwards }) },
    text,
    io.signal,
  );
  // Only a command that ends so by itself and a lost connection do: the pod tells which it was.
  if (code === 255)
    await host.sh(':', { signal: io.signal, within: 10_000 }).catch((error: unknown) => {
      throw launcherErrors.ExecLost({ host: host.name }, error);
    });
  return code;
}
