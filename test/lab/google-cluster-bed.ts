// needs: openssl, google-discovery, ray, hosts

/** A laptop with Manta and a project of Google Cloud whose machines, and hosts of slices, are hosts with real Ray. */
import assert from 'node:assert/strict';
import type { CloudInstance } from '../../lab/cloud/instance.ts';
import { type LabGoogle, type LabGoogleOptions, openLabGoogle } from '../../lab/google/open.ts';
import type { LabHost, LabOptions } from '../../lab/lab.ts';
import { CloudClusterBed } from './cloud-cluster-bed.ts';
import { ClusterBed } from './cluster-bed.ts';

export class GoogleClusterBed extends CloudClusterBed {
  readonly google: LabGoogle;
  readonly #environment: Readonly<Record<string, string>>;
  /** What the project had before there was any cluster. */
  readonly #before: ReadonlySet<string>;

  private constructor(bed: ClusterBed, google: LabGoogle, environment: Readonly<Record<string, string>>) {
    super(bed, google);
    this.google = google;
    this.#environment = environment;
    this.#before = new Set(google.cloud.has.truth().map(({ id }) => id));
  }

  static async open(options: Partial<LabOptions> = {}, google: LabGoogleOptions = {}): Promise<GoogleClusterBed> {
    const bed = await ClusterBed.open({ hosts: 0, ray: true, ...options });
    try {
      const fake = await openLabGoogle(bed.lab, { image: { ray: true, cron: true }, ...google });
      return new GoogleClusterBed(bed, fake, await fake.equip(bed.laptop));
    } catch (error) {
      await bed.close();
      throw error;
    }
  }

  environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  protected hostOf({ name }: CloudInstance): LabHost | undefined {
    return name === undefined ? undefined : this.google.host(name);
  }

  /** Launches since a call, with the zone and market of each and how it was answered. */
  launches(since = 0): Promise<readonly string[]> {
    return this.launchesBy(['instances.insert', 'instances.bulkInsert'], since);
  }

  /** Also of other clusters: what is made for them carries no labels, for Google has none there. */
  async assertNothingLeft(cluster: string): Promise<void> {
    this.assertNoMachines(cluster);
    const belongings = await this.google.admin.belongings();
    assert.deepEqual(
      belongings.filter(({ id }) => !this.#before.has(id)).map(({ kind, id }) => `${kind} ${id}`),
      [],
    );
    const members = this.google.project.bindings.flatMap((binding) => binding.members);
    assert.deepEqual(
      members.filter((member) => member.startsWith('serviceAccount:ray-')),
      [],
      'the policy of the project names no account that is gone',
    );
  }
}
