// needs: openssl, google-discovery

/** The roles that are printed suffice, and each permission that is taken away is named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceAccountKey } from '../../../lab/google/access/tokens.ts';
import type { MantaError } from '../../../src/base/errors.ts';
import { policies } from '../../../src/providers/google/prepare/policies.ts';
import { patiently } from '../../contract/waiting.ts';
import { specOf } from '../../core/spec/cluster-text.ts';
import { ask, providerOf } from './google-bed.ts';
import { cluster, preparationBed } from './prepare-bed.ts';

type Bed = Awaited<ReturnType<typeof preparationBed>>;

const text = cluster({
  machine: 'acceleratorType: v4-8',
  places: 'region: us-central2, availability_zone: us-central2-b',
});
const permissionsIn = (policy: string): readonly string[] =>
  (JSON.parse(policy) as { readonly includedPermissions: readonly string[] }).includedPermissions;

/** Somebody with a role of exactly these permissions. */
function accountWith({ project, addAccount }: Bed, name: string, permissions: readonly string[]): ServiceAccountKey {
  const id = `projects/${project.id}/roles/${name}`;
  const base = { account: project.id, createdAt: 0, tags: {}, title: name, description: '', stage: 'GA' };
  project.roles.add({ ...base, id, permissions });
  return addAccount(`${name}-account`, id);
}

/** What preparing this file calls that it cannot do without. */
const needed = [
  ...['projects.get', 'regions.get', 'machineTypes.get', 'subnetworks.list'].map((each) => `compute.${each}`),
  ...['tpu.acceleratortypes.list', 'tpu.runtimeversions.list'],
  ...['iam.serviceAccounts.get', 'iam.serviceAccounts.create', 'iam.roles.get', 'iam.roles.create'],
  ...['resourcemanager.projects.getIamPolicy', 'resourcemanager.projects.setIamPolicy'],
];

test("the user's role suffices to prepare, and each permission that it lacks is named", async (t) => {
  const { user } = policies(specOf(text));
  const permissions = permissionsIn(user);
  const bed = await preparationBed(t);
  await bed.up({ text, as: accountWith(bed, 'enough', permissions) });
  for (const [index, permission] of needed.entries()) {
    assert.ok(permissions.includes(permission), permission);
    const as = accountWith(
      bed,
      `poor_${index}`.replace('_', ''),
      permissions.filter((each) => each !== permission),
    );
    await assert.rejects(bed.up({ text, as, clusterId: `other-${index}` }), (error: MantaError) => {
      assert.equal(error.exit, 5, error.stack);
      assert.ok(error.message.includes(permission), `${permission}: ${error.message}`);
      return true;
    });
  }
});

test("a user's role without what a plan can do without is enough", async (t) => {
  const { user } = policies(specOf(text));
  const bed = await preparationBed(t);
  const spare = ['orgpolicy.policy.get', 'compute.firewalls.list'];
  const as = accountWith(
    bed,
    'spare',
    permissionsIn(user).filter((each) => !spare.includes(each)),
  );
  const { warnings } = await bed.plan({ text, as });
  assert.match(warnings.join('\n'), /the firewall of network default cannot be read/);
});

test("the head's role pulls the image of its container where that is in a registry of Google", () => {
  const pulls = (image: string): boolean =>
    permissionsIn(policies(specOf(cluster({ more: `docker: {image: ${image}, container_name: c}` }))).head).includes(
      'artifactregistry.repositories.downloadArtifacts',
    );
  assert.deepEqual(['us-docker.pkg.dev/lab-project/ray/ray:1', 'gcr.io/p/ray', 'rayproject/ray:2.9'].map(pulls), [
    true,
    true,
    false,
  ]);
});

test("the head's role suffices to launch, list, tag and end instances", async (t) => {
  const bed = await preparationBed(t);
  const plain = cluster({ places: 'region: us-west1, availability_zone: us-west1-a' });
  const prepared = await bed.up({ text: plain });
  const credentials = bed.world.tokens.addKey(bed.project.id, prepared.serviceAccount!.email, '1');
  const provider = providerOf(bed, { text: plain, prepared, credentials });
  const signal = patiently();
  const [made] = await provider.launch(ask('one', { tags: { some: 'tag' } }), signal);
  assert.deepEqual(
    (await provider.list(signal)).map(({ id }) => id),
    [made!.id],
  );
  await provider.tag(made!.id, { other: 'tag' }, signal);
  await provider.terminate([made!.id], signal);
  await assert.rejects(bed.up({ as: credentials }), (error: MantaError) => error.exit === 5, 'and nothing else');
});
