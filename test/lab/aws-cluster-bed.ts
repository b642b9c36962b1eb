// needs: botocore, ray, hosts

/** A laptop with Manta and an account of AWS whose machines are hosts with real Ray. */
import assert from 'node:assert/strict';
import { type LabAws, type LabAwsOptions, labAccount, openLabAws } from '../../lab/aws/open.ts';
import type { CloudInstance } from '../../lab/cloud/instance.ts';
import type { LabHost, LabOptions } from '../../lab/lab.ts';
import { CloudClusterBed } from './cloud-cluster-bed.ts';
import { ClusterBed } from './cluster-bed.ts';

export class AwsClusterBed extends CloudClusterBed {
  readonly aws: LabAws;

  private constructor(bed: ClusterBed, aws: LabAws) {
    super(bed, aws);
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

  environment(): Readonly<Record<string, string>> {
    return this.aws.environment();
  }

  protected hostOf({ id }: CloudInstance): LabHost | undefined {
    return this.aws.host(id);
  }

  /** Launches since a call, with the zone and market of each and how it was answered. */
  launches(since = 0): Promise<readonly string[]> {
    return this.launchesBy(['RunInstances'], since);
  }

  async assertNothingLeft(cluster: string): Promise<void> {
    this.assertNoMachines(cluster);
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
