// needs: openssl, ray, hosts, podman, kube

import { existsSync } from 'node:fs';
/** Kubernetes with KubeRay on a host of a lab, and Manta on its laptop. */
import { join } from 'node:path';
import { kubeHost, type LabKube, openLabKube } from '../../lab/kube/open.ts';
import type { ExecResult } from '../../lab/lab.ts';
import { labProblem } from '../../lab/lab.ts';
import { kubePrograms } from '../../scripts/kube-build.ts';
import { ClusterBed, clusterProblem, type Words } from './cluster-bed.ts';

/** Why there can be no Kubernetes here, with what to do about it; undefined when there can. */
export function kubeProblem(): string | undefined {
  const there = existsSync(join(kubePrograms(), 'kubelet'));
  return (
    labProblem('kube') ??
    clusterProblem() ??
    (there ? undefined : "the programs of Kubernetes are not built: 'node scripts/kube-build.ts' builds them")
  );
}

export class KubeBed {
  readonly bed: ClusterBed;
  readonly kube: LabKube;

  private constructor(bed: ClusterBed, kube: LabKube) {
    this.bed = bed;
    this.kube = kube;
  }

  static async open(): Promise<KubeBed> {
    const bed = await ClusterBed.open({ hosts: [kubeHost] });
    try {
      const kube = await openLabKube(bed.lab, bed.lab.hosts[0]!);
      await kube.equip(bed.laptop);
      return new KubeBed(bed, kube);
    } catch (error) {
      await bed.lab.close();
      throw error;
    }
  }

  /** Where pods find an image with Ray. */
  get rayImage(): string {
    return this.bed.lab.registry!.images.ray;
  }

  /** Runs `manta` on the laptop, with another kubeconfig where one is given. */
  run(words: Words, config?: string): Promise<ExecResult> {
    if (config === undefined) return this.bed.run(words);
    this.bed.write('other-kubeconfig', config);
    return this.bed.run(words, { env: { KUBECONFIG: '/root/other-kubeconfig' } });
  }

  apply(manifest: string): Promise<string> {
    return this.kube.kubectl(['apply', '--server-side', '-f', '-'], manifest);
  }

  close(): Promise<void> {
    return this.bed.lab.close();
  }
}
