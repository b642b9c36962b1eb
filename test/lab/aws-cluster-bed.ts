// needs: botocore, ray, hosts

/** A laptop with Manta and an account of AWS whose machines are hosts with real Ray. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { type LabAws, type LabAwsOptions, labAccount, openLabAws } from '../../lab/aws/open.ts';
import type { ExecResult } from '../../lab/host.ts';
import type { LabHost, LabOptions } from '../../lab/lab.ts';
import { ClusterBed, smallRay, type Words } from './cluster-bed.ts';

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

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<ExecResult>;
}

export class AwsClusterBed {
  readonly bed: ClusterBed;
  readonly aws: LabAws;

  private constructor(bed: ClusterBed, aws: LabAws) {
    this.bed = bed;
    this.aws = aws;
  }

  static async open(options: Partial<LabOptions> = {}, aws: LabAwsOptions = {}): Promise<AwsClusterBed> {
    const bed = await ClusterBed.open({ hosts: 0, ray: true, ...options });
    try {
      return new AwsClusterBed(bed, await openLabAws(bed.lab, { image: { ray: true, cron: true }, ...aws }));
    } catch (error) {
      await bed.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.aws.close();
    await this.bed.close();
  }

  manta(...words: Words): Promise<string> {
    return this.bed.manta(words, { env: this.aws.environment() });
  }

  /** With its exit code, which may say that it failed. */
  run(...words: Words): Promise<ExecResult> {
    return this.bed.run(words, { env: this.aws.environment() });
  }

  /** As `manta`, on a machine that has the same files and credentials, and has never heard of any cluster. */
  elsewhere(...words: Words): Promise<string> {
    return this.bed.manta(words, { env: { ...this.aws.environment(), MANTA_HOME: '/root/elsewhere' } });
  }

  /** Starts a command and does not wait for its end. */
  start(...words: Words): Running {
    const child = this.bed.start(words, { env: this.aws.environment() });
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
    return await this.bed.manta(words, { env: this.aws.environment(), within: 180_000 });
  }

  /** Machines of a cluster that are there, in any state that costs money. */
  existing(cluster: string) {
    return this.aws.cloud.existing(labAccount).filter(({ now }) => now.tags['ray-cluster-name'] === cluster);
  }

  ofKind(cluster: string, kind: 'head' | 'worker') {
    return this.existing(cluster).filter(({ now }) => now.tags['ray-node-type'] === kind);
  }

  host(instance: { readonly id: string } | undefined): LabHost {
    const host = instance && this.aws.host(instance.id);
    assert.ok(host, 'the instance is a host');
    return host;
  }

  /** Launches since a call, with the zone and market of each and how it was answered. */
  async launches(since = 0): Promise<readonly string[]> {
    return (await this.aws.admin.calls({ since, call: 'RunInstances' })).map(
      ({ asked, error }) => `${asked?.type} ${asked?.market} ${asked?.zone} ${error ?? 'given'}`,
    );
  }

  /** The number of the last call. */
  async lastCall(): Promise<number> {
    return (await this.aws.admin.calls()).at(-1)?.number ?? 0;
  }

  /** That a cluster has left nothing in the account. */
  async assertNothingLeft(cluster: string): Promise<void> {
    assert.deepEqual(
      this.existing(cluster).map(({ id, now }) => `${id} ${now.state}`),
      [],
    );
    const belongings = await this.aws.admin.belongings();
    assert.deepEqual(
      belongings.filter(({ tags }) => tags['ray-cluster-name'] === cluster).map(({ kind, id }) => `${kind} ${id}`),
      [],
    );
    const active = this.aws.world.spotRequests
      .of(labAccount)
      .filter(({ tags, state }) => tags['ray-cluster-name'] === cluster && (state === 'active' || state === 'open'));
    assert.deepEqual(active, [], 'no spot request asks for more');
  }
}
