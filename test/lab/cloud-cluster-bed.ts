// needs: ray, hosts

/** A laptop with Manta and a cloud whose machines are hosts with real Ray: what is the same on every cloud. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { CloudAdmin } from '../../lab/cloud/admin.ts';
import type { Cloud } from '../../lab/cloud/cloud.ts';
import type { CloudInstance } from '../../lab/cloud/instance.ts';
import type { ExecResult } from '../../lab/host.ts';
import type { LabHost } from '../../lab/lab.ts';
import { type ClusterBed, smallRay, type Words } from './cluster-bed.ts';

/** What makes Ray small enough for many on one machine; what a machine has is said by the file. */
const rayOptions = smallRay.replace(/--num-cpus=\d+ /, '');

/** Without what Ray installs by itself, which a lab has no way to download. */
export const startRay = `
head_setup_commands: []
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${rayOptions}
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${rayOptions}
`;

/** Asks Ray for these resources at once, each in a task of its own, and says on which hosts they ran. */
export const needs = (...each: readonly string[]): string => `
import ray, socket
ray.init(address="auto", logging_level="error")
@ray.remote
def where():
    return socket.gethostname()
print("RAN ON", *ray.get([where.options(**options).remote() for options in [${each.join(', ')}]]))
`;

/** Asks Ray for these bundles, each on a machine of its own, and says on which hosts they are. */
export const spread = (bundles: readonly string[]): string => `
import ray, socket
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
ray.init(address="auto", logging_level="error")
bundles = [${bundles.join(', ')}]
group = placement_group(bundles, strategy="STRICT_SPREAD")
ray.get(group.ready())
@ray.remote(num_cpus=0)
def where():
    return socket.gethostname()
at = [PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=i) for i in range(len(bundles))]
print("RAN ON", *sorted(set(ray.get([where.options(scheduling_strategy=each).remote() for each in at]))))
`;

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<ExecResult>;
}

/** The fake behind a bed. */
export interface FakeCloud {
  readonly admin: CloudAdmin;
  readonly cloud: Cloud;
  close(): Promise<void>;
}

export abstract class CloudClusterBed {
  readonly bed: ClusterBed;
  readonly #fake: FakeCloud;

  protected constructor(bed: ClusterBed, fake: FakeCloud) {
    this.bed = bed;
    this.#fake = fake;
  }

  /** What Manta needs on the laptop to call the cloud. */
  abstract environment(): Readonly<Record<string, string>>;

  protected abstract hostOf(instance: CloudInstance): LabHost | undefined;

  /** That a cluster has left nothing in the account. */
  abstract assertNothingLeft(cluster: string): Promise<void>;

  async close(): Promise<void> {
    await this.#fake.close();
    await this.bed.close();
  }

  manta(...words: Words): Promise<string> {
    return this.bed.manta(words, { env: this.environment() });
  }

  /** With its exit code, which may say that it failed. */
  run(...words: Words): Promise<ExecResult> {
    return this.bed.run(words, { env: this.environment() });
  }

  /** As `manta`, on a machine that has the same files and credentials, and has never heard of any cluster. */
  elsewhere(...words: Words): Promise<string> {
    return this.bed.manta(words, { env: { ...this.environment(), MANTA_HOME: '/root/elsewhere' } });
  }

  /** Starts a command and does not wait for its end. */
  start(...words: Words): Running {
    const child = this.bed.start(words, { env: this.environment() });
    const said = Promise.all([text(child.stdout!), text(child.stderr!)]);
    const code = new Promise<number>((resolve) => {
      child.once('close', (exit, signal) => resolve(exit ?? (signal === null ? 0 : 128)));
    });
    return {
      child,
      ended: Promise.all([code, said]).then(([exit, [stdout, stderr]]) => ({ code: exit, stdout, stderr })),
    };
  }

  /** Runs a script on the cluster's head as a job, and gives what it printed. */
  async job(cluster: string, script: string): Promise<string> {
    this.bed.write('jobs/job.py', script);
    const words = ['job', 'submit', '-n', cluster, '--working-dir', 'jobs', '--', 'python', 'job.py'];
    return await this.bed.manta(words, { env: this.environment(), within: 180_000 });
  }

  /** Machines of a cluster that are there, in any state that costs money. */
  existing(cluster: string): readonly CloudInstance[] {
    return this.#fake.cloud.existing().filter(({ now }) => now.tags['ray-cluster-name'] === cluster);
  }

  ofKind(cluster: string, kind: 'head' | 'worker'): readonly CloudInstance[] {
    return this.existing(cluster).filter(({ now }) => now.tags['ray-node-type'] === kind);
  }

  host(instance: CloudInstance | undefined): LabHost {
    const host = instance && this.hostOf(instance);
    assert.ok(host, 'the instance is a host');
    return host;
  }

  /** Calls of these names since another, with the zone and market of each and how it was answered. */
  protected async launchesBy(operations: readonly string[], since: number): Promise<readonly string[]> {
    const calls = await this.#fake.admin.calls({ since });
    return calls
      .filter(({ operation = '' }) => operations.includes(operation))
      .map(({ asked, error }) => `${asked?.type} ${asked?.market} ${asked?.zone} ${error ?? 'given'}`);
  }

  /** The number of the last call. */
  async lastCall(): Promise<number> {
    return (await this.#fake.admin.calls()).at(-1)?.number ?? 0;
  }

  protected assertNoMachines(cluster: string): void {
    assert.deepEqual(
      this.existing(cluster).map(({ id, name, now }) => `${name ?? id} ${now.state}`),
      [],
    );
  }
}
