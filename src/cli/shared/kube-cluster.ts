import { KubeClient } from '../../base/kube/client.ts';
import { openKubeAccess } from '../../base/kube/config.ts';
import { PodHost } from '../../base/kube/pod-host.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import { kubeHead } from '../../client/kube.ts';
import type { Target } from '../../client/target.ts';
import { findKubeTarget, headPod, type KubeTarget, podNamed } from '../../kube/target.ts';
import type { Io } from '../command.ts';

/** `kube:NAME`, and the options that say where. */
export interface KubeSaid {
  readonly word: string;
  readonly options: {
    readonly context?: string | undefined;
    readonly namespace?: string | undefined;
    readonly pending?: boolean | undefined;
  };
}

function openClient({ context, namespace }: KubeSaid['options'], io: Io): KubeClient {
  return new KubeClient(openKubeAccess({ env: io.env, context, namespace }), wallClock);
}

/** Does something with the object that `kube:NAME` means, and ends the connections. */
export async function withKubeTarget<Value>(
  { word, options }: KubeSaid,
  io: Io,
  use: (target: KubeTarget) => Promise<Value>,
): Promise<Value> {
  const client = openClient(options, io);
  try {
    return await use(await findKubeTarget(client, { word, pending: options.pending }, io.signal));
  } finally {
    client.close();
  }
}

/** As `withKubeTarget`, with a pod of the cluster as a host: the head, or the one that is named. */
export function withPod<Value>(
  said: KubeSaid,
  io: Io,
  use: (host: PodHost, target: KubeTarget) => Promise<Value>,
  pod = 'head',
): Promise<Value> {
  return withKubeTarget(said, io, async (target) => {
    const found = pod === 'head' ? await headPod(target, io.signal) : await podNamed(target, pod, io.signal);
    const host = new PodHost(found, { client: target.client, clock: wallClock });
    try {
      return await use(host, target);
    } finally {
      await host.close();
    }
  });
}

/** The head of such a cluster, for those who speak HTTP to it. */
export async function kubeTargetFor({ word, options }: KubeSaid, io: Io): Promise<Omit<Target, 'headers' | 'verify'>> {
  const client = openClient(options, io);
  try {
    return kubeHead(await findKubeTarget(client, { word, pending: options.pending }, io.signal), wallClock);
  } catch (error) {
    client.close();
    throw error;
  }
}
