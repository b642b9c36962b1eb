import { join } from 'node:path';
import { forwardToPod, type PodForward } from '../base/kube/port-forward.ts';
import { privateFolder, tunnelPath } from '../base/ssh/control.ts';
import type { Clock } from '../base/time/clock.ts';
import { headPod, headPort, type KubeTarget, mantadOf, rayToken } from '../kube/target.ts';
import type { Endpoint, Target } from './target.ts';

/** Port of Ray's dashboard where the head's container does not name another. */
export const dashboardPort = { name: 'dashboard', usual: 8265 };

/**
 * The head of a cluster on Kubernetes, through a port-forward that asks again which pod it is: mantad where the pod has one,
 * else Ray's own dashboard.
 */
export function kubeHead(target: KubeTarget, clock: Clock): Omit<Target, 'headers' | 'verify'> {
  const ending = new AbortController();
  let line: { readonly endpoint: Endpoint; readonly forward: PodForward } | undefined;
  const open = async (signal: AbortSignal): Promise<NonNullable<typeof line>> => {
    const mantad = await mantadOf(target, signal);
    const port = mantad?.port ?? (await headPort(target, dashboardPort, signal));
    const token = mantad === undefined ? await rayToken(target, signal) : mantad.token;
    const path = tunnelPath(join(privateFolder(), 'kube'));
    const forward = await forwardToPod({
      client: target.client,
      clock,
      pod: (during) => headPod(target, during),
      port,
      here: { path },
      signal: ending.signal,
    });
    forward!.server.unref();
    return {
      endpoint: { url: `http://127.0.0.1:${port}`, socket: path, ...(token !== undefined && { token }) },
      forward: forward!,
    };
  };
  return {
    onKube: target.kind,
    shown: `kube:${target.namespace}/${target.name}`,
    place: async (signal) => {
      // First, so that a missing head is reported as that and not as a broken connection.
      await headPod(target, signal);
      line ??= await open(signal);
      return line.endpoint;
    },
    lost: () => line?.forward.forget(),
    close: async () => {
      ending.abort();
      target.client.close();
    },
  };
}
