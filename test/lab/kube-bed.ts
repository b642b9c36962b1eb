// needs: openssl, ray, hosts, podman, kube

/** Kubernetes with KubeRay on hosts of a lab, and Manta on its laptop. */
import { existsSync } from 'node:fs';
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

  static async open({ nodes = 1 }: { readonly nodes?: number } = {}): Promise<KubeBed> {
    const bed = await ClusterBed.open({ hosts: Array.from({ length: nodes }, () => kubeHost) });
    try {
      const [host, ...workers] = bed.lab.hosts;
      const kube = await openLabKube(bed.lab, host!, workers);
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

  /** Where pods find an image with Node and bash. */
  get nodeImage(): string {
    return this.bed.lab.registry!.images.node;
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

  /** One object, or several, as the API server has them. */
  async get<Kind>(...words: readonly string[]): Promise<Kind> {
    return JSON.parse(await this.kube.kubectl(['get', ...words, '-o', 'json'])) as Kind;
  }

  close(): Promise<void> {
    return this.bed.lab.close();
  }
}
