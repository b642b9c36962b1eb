import { text } from 'node:stream/consumers';
import { followPodLog, openPodLog } from '../../../base/kube/logs.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { podNamed } from '../../../kube/target.ts';
import { openText } from '../../../launcher/exec/exec.ts';
import { rayLogText } from '../../../launcher/nodes/logs.ts';
import type { Io } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { type KubeSaid, withKubeTarget, withPod } from '../../shared/kube-cluster.ts';
import type { logsOptions } from './declaration.ts';

/** The log of Ray's container, which is what `ray start` said; with a file, one of Ray's own log folder in the pod. */
export async function logsOnKube(
  said: KubeSaid,
  pod: string,
  { lines, follow, file }: OptionValues<typeof logsOptions>,
  io: Io,
): Promise<number> {
  if (file !== undefined)
    return await withPod(
      said,
      io,
      (host, { name }) => {
        const program = rayLogText({ cluster: name, place: { kind: 'host' }, lines, follow }, file);
        return openText({ host, stdio: ['ignore', 'inherit', 'inherit'], terminal: false }, program, io.signal);
      },
      pod,
    );
  return await withKubeTarget(said, io, async (target) => {
    const found = await podNamed(target, pod, io.signal);
    const log = { ...found, tailLines: lines, signal: io.signal };
    if (!follow) io.out(await text(await openPodLog(target.client, log)));
    else for await (const line of followPodLog(target.client, log, wallClock)) io.out(`${line}\n`);
    return 0;
  });
}
