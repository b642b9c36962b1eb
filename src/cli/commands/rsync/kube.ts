import { PodHost } from '../../../base/kube/pod-host.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { nameOf } from '../../../core/kube/object.ts';
import { clusterNow, podsOf, rayContainer } from '../../../kube/target.ts';
import { copyPod } from '../../../launcher/exec/copy-pod.ts';
import type { CopyPaths } from '../../../launcher/exec/rsync.ts';
import type { Io } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { type KubeSaid, withPod } from '../../shared/kube-cluster.ts';

interface Copy {
  readonly direction: 'up' | 'down';
  readonly paths: CopyPaths | undefined;
  /** To every pod of the cluster. */
  readonly isForAll?: boolean;
}

/** Copies to and from Ray's container of the head pod. A manifest has no file_mounts: both paths have to be given. */
export async function copyOnKube(
  said: KubeSaid,
  { direction, paths, isForAll = false }: Copy,
  io: Io,
): Promise<number> {
  if (paths === undefined) throw cliErrors.PathsForKube({ word: said.word });
  return await withPod(said, io, async (head, target) => {
    const copy = (host: PodHost): Promise<void> => copyPod({ host, direction, paths, events: io.events }, io.signal);
    if (!isForAll) {
      await copy(head);
      return 0;
    }
    const pods = await podsOf(target, await clusterNow(target, io.signal), io.signal);
    const edges = { client: target.client, clock: wallClock };
    const hosts = pods.map(
      (pod) => new PodHost({ ...head.pod, pod: nameOf(pod), container: rayContainer(pod) }, edges),
    );
    await Promise.all(hosts.map(copy));
    return 0;
  });
}
