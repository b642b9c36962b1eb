// needs: openssl, ray, hosts, podman, kube

/** What the parts share: a cluster, `kubectl` beside `manta` on the laptop, and what a command costs there. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { kubePrograms } from '../../scripts/kube-build.ts';
import { KubeBed } from '../../test/lab/kube-bed.ts';

export const rounds = Number(process.env['MANTA_BENCH_ROUNDS'] ?? 10);

export async function withKubeBed<T>(work: (bed: KubeBed) => Promise<T>): Promise<T> {
  const bed = await KubeBed.open();
  try {
    cpSync(join(kubePrograms(), 'kubectl'), join(bed.bed.laptop.root, '/usr/local/bin/kubectl'));
    return await work(bed);
  } finally {
    await bed.close();
  }
}

/** A RayCluster of a head alone. */
export const clusterOf = (
  bed: KubeBed,
  name: string,
  more: { readonly suspend?: boolean; readonly autoscaling?: boolean; readonly groups?: string } = {},
): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ${name}}
spec:
  rayVersion: 2.60.0
  suspend: ${more.suspend ?? false}
  enableInTreeAutoscaling: ${more.autoscaling ?? false}
  headGroupSpec:
    rayStartParams: {num-cpus: "1"}
    template: ${podOf(bed, 'ray-head')}
  workerGroupSpecs: ${more.groups ?? '[]'}
`;

export const podOf = (bed: KubeBed, container: string, more = ''): string =>
  `{spec: {${more}containers: [{name: ${container}, image: "${bed.rayImage}", resources: {limits: {memory: 3Gi}, requests: {cpu: 200m, memory: 1Gi}}}]}}`;

/** Runs a command on the laptop; returns its time in milliseconds and the bytes that the laptop received meanwhile. */
export async function costOnLaptop(
  { bed }: KubeBed,
  command: readonly string[],
): Promise<{ readonly time: number; readonly bytes: number; readonly stdout: string }> {
  const received = async (): Promise<number> =>
    Number(await bed.laptop.must(['cat', '/sys/class/net/eth0/statistics/rx_bytes']));
  const before = await received();
  const start = performance.now();
  const stdout = await bed.laptop.must(command, { user: 'root' });
  const time = performance.now() - start;
  return { time, bytes: (await received()) - before, stdout };
}
