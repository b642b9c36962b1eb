/** A head with real Ray and so much memory: Manta's, or one that `ray start` made. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LabHost } from '../../lab/lab.ts';
import { ClusterBed } from '../../test/lab/cluster-bed.ts';

export interface JobServer {
  readonly name: 'manta' | 'ray';
  readonly url: string;
  readonly token: string;
}

const clusterName = 'bench';
const small = '--num-cpus=2 --object-store-memory=80000000 --disable-usage-stats';
const clientFile = fileURLToPath(new URL('client.ts', import.meta.url));
const clientOnHead = '/tmp/bench-client.ts';

export class QueueBed {
  readonly #bed: ClusterBed;
  /** The head's control group of memory; `old` where it is one of version 1. */
  readonly #group: { readonly folder: string; readonly old: boolean };

  private constructor(bed: ClusterBed) {
    this.#bed = bed;
    this.#group = memoryGroupOf(bed.head);
  }

  /** What needs a container engine is given all control groups, that of memory too; there is no other use of it here. */
  static async open(memory?: number): Promise<QueueBed> {
    const bed = await ClusterBed.open({ hosts: [{ ray: true, podman: memory !== undefined, disk: '8g' }], ray: true });
    const queueBed = new QueueBed(bed);
    if (memory !== undefined) queueBed.#limit(memory);
    writeFileSync(join(bed.head.root, clientOnHead), readFileSync(clientFile));
    return queueBed;
  }

  get head(): LabHost {
    return this.#bed.head;
  }

  /** Manta's gateway, and behind it the jobs API of its Ray itself. */
  async startManta(): Promise<{ readonly manta: JobServer; readonly ray: JobServer }> {
    this.#bed.write(
      'bench.yaml',
      `cluster_name: ${clusterName}
provider: {type: local, head_ip: ${this.head.address}, worker_ips: []}
auth: {ssh_user: root, ssh_private_key: ~/.ssh/id_ed25519}
max_workers: 0
head_start_ray_commands: [ray stop, 'ulimit -c 0; ray start --head --port=6379 ${small}']
`,
    );
    await this.#bed.manta(['up', '-y', 'bench.yaml']);
    const read = (path: string): string => readFileSync(join(this.head.root, 'root/.manta', path), 'utf8').trim();
    const folder = `head/clusters/${clusterName}`;
    const { url } = JSON.parse(read(`${folder}/mantad.json`)) as { url: string };
    const { ray } = JSON.parse(read(`${folder}/cluster.json`)) as { ray: { dashboardPort: number } };
    return {
      manta: { name: 'manta', url, token: read(`${folder}/tokens/owner`) },
      ray: {
        name: 'ray',
        url: `http://127.0.0.1:${ray.dashboardPort}`,
        token: read(`nodes/${clusterName}/token`),
      },
    };
  }

  async startRay(): Promise<JobServer> {
    const env = { RAY_AUTH_MODE: 'disabled' };
    const program = `ulimit -c 0; ray start --head --port=6379 --dashboard-host=127.0.0.1 ${small}`;
    await this.head.must(['bash', '-lc', program], { env, within: 300_000 });
    return { name: 'ray', url: 'http://127.0.0.1:8265', token: '' };
  }

  /** Runs the client on the head. */
  async client<T>(
    verb: 'starts' | 'submit' | 'states',
    order: { readonly servers: readonly JobServer[]; readonly count?: number; readonly entrypoint?: string },
    within = 600_000,
  ): Promise<T> {
    return JSON.parse(await this.head.must(['node', clientOnHead, verb, JSON.stringify(order)], { within })) as T;
  }

  /** Most mebibytes that the head has ever had, and how many of its processes the kernel has killed for want of memory. */
  memory(): { readonly most: number; readonly killed: number } {
    const { folder, old } = this.#group;
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const most = Number(read(old ? 'memory.max_usage_in_bytes' : 'memory.peak'));
    const killed = /^oom_kill (\d+)/m.exec(read(old ? 'memory.oom_control' : 'memory.events'))?.[1];
    return { most: most / 2 ** 20, killed: Number(killed) };
  }

  close(): Promise<void> {
    return this.#bed.close();
  }

  #limit(bytes: number): void {
    const { folder, old } = this.#group;
    writeFileSync(join(folder, old ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes));
  }
}

function memoryGroupOf(host: LabHost): { readonly folder: string; readonly old: boolean } {
  for (const { pid } of host.processes()) {
    const file = `/proc/${pid}/cgroup`;
    if (!existsSync(file)) continue;
    const groups = readFileSync(file, 'utf8');
    const old = /^\d+:memory:(.*)$/m.exec(groups)?.[1];
    if (old !== undefined) return { folder: join('/sys/fs/cgroup/memory', old), old: true };
    return { folder: join('/sys/fs/cgroup', /^0::(.*)$/m.exec(groups)?.[1] ?? ''), old: false };
  }
  throw new Error(`nothing runs on ${host.name}`);
}
