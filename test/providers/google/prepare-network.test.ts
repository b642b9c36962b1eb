// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, fails, preparationBed } from './prepare-bed.ts';

type Bed = Awaited<ReturnType<typeof preparationBed>>;
const rulesIn = ({ project }: Bed): readonly string[] => project.firewalls.of(project.id).map(({ name }) => name);
const remove = ({ project }: Bed, name: string): void => {
  for (const rule of project.firewalls.of(project.id)) if (rule.name === name) project.firewalls.delete(rule.id);
};

test('a network that lets in SSH and traffic inside gets no rule', async (t) => {
  const bed = await preparationBed(t);
  const before = rulesIn(bed);
  const prepared = await bed.up();
  assert.deepEqual(rulesIn(bed), before);
  assert.equal(prepared.network.tag, undefined);
  const { steps } = await bed.plan();
  assert.match(steps.find(({ what }) => what === 'firewall')?.note ?? '', /SSH and traffic inside are allowed/);
});

test("a rule that is missing is made for this cluster's instances alone, and goes with it", async (t) => {
  const bed = await preparationBed(t);
  remove(bed, 'default-allow-ssh');
  const { steps } = await bed.plan();
  assert.deepEqual(
    steps.filter(({ what, action }) => what === 'firewall rule' && action === 'create').map(({ note }) => note),
    ['SSH from 203.0.113.7/32'],
  );
  const prepared = await bed.up();
  const [name] = prepared.made.filter(({ kind }) => kind === 'firewall rule').map(({ id }) => id);
  const rule = bed.project.firewalls.of(bed.project.id).find((each) => each.name === name)!;
  assert.match(rule.name, /^ray-demo-/);
  assert.match(rule.body.description ?? '', /the cluster demo \(0123abcd4567\)/);
  assert.deepEqual(rule.body.targetTags, [prepared.network.tag]);
  assert.deepEqual(rule.body.sourceRanges, ['203.0.113.7/32']);
  assert.deepEqual(rule.body.allowed, [{ IPProtocol: 'tcp', ports: ['22'] }]);
  const again = await bed.up();
  assert.deepEqual(again.made, prepared.made);
  assert.equal((await bed.changes()).filter((each) => each === 'firewalls.insert').length, 1);
});

test('a rule of an earlier address is widened to the one of now', async (t) => {
  const bed = await preparationBed(t);
  remove(bed, 'default-allow-ssh');
  const before = await bed.up();
  bed.here.address = '198.51.100.9';
  const { steps } = await bed.plan();
  assert.ok(steps.some(({ what, action }) => what === 'firewall rule' && action === 'change'));
  const after = await bed.up();
  assert.deepEqual(after.made, before.made);
  const rule = bed.project.firewalls.of(bed.project.id).find(({ name }) => name === after.made[0]!.id)!;
  assert.deepEqual(rule.body.sourceRanges, ['203.0.113.7/32', '198.51.100.9/32']);
  bed.here.address = '';
  assert.match((await bed.plan()).warnings.join('\n'), /the rule for SSH allows every address/);
});

test('traffic inside that is not let in, or denied before it is, gets a rule from the range of the subnet', async (t) => {
  const bed = await preparationBed(t);
  remove(bed, 'default-allow-internal');
  const prepared = await bed.up();
  const rule = bed.project.firewalls.of(bed.project.id).find(({ name }) => name === prepared.made[0]!.id)!;
  assert.deepEqual(rule.body.sourceRanges, [bed.project.subnetworks.get('us-central1/default')!.cidr]);
  assert.deepEqual(
    rule.body.allowed?.map(({ IPProtocol: protocol }) => protocol),
    ['tcp', 'udp', 'icmp'],
  );
  const other = await preparationBed(t);
  const denied = [{ IPProtocol: 'tcp', ports: ['6379'] }];
  other.world.addFirewall(other.project, { name: 'no-redis', priority: 900, sourceRanges: ['10.0.0.0/8'], denied });
  const { steps } = await other.plan();
  assert.ok(steps.some(({ what, note }) => what === 'firewall rule' && note?.includes('reach one another')));
});

test('a project without its default network uses another one and says so, or is refused where it has none', async (t) => {
  const bed = await preparationBed(t);
  bed.world.removeNetwork(bed.project);
  await fails(bed.plan(), 'MANTA_GOOGLE_NO_NETWORK', 2, /gcloud compute networks create default.*lab-project/);
  bed.world.addNetwork(bed.project, 'corp');
  const { warnings, steps } = await bed.plan();
  assert.match(warnings.join('\n'), /no default network: instances go to subnet corp of network corp/);
  assert.equal(steps.filter(({ action }) => action === 'create').length, 3, 'two rules and an account');
});

test('the subnet of the file is used, and one that does not exist is refused', async (t) => {
  const bed = await preparationBed(t);
  bed.world.addNetwork(bed.project, 'corp');
  const own = (name: string): string => `networkInterfaces: [{subnetwork: regions/us-central1/subnetworks/${name}}]`;
  const prepared = await bed.up({ text: cluster({ head: own('corp'), worker: own('corp') }) });
  assert.equal(prepared.network.subnetwork, undefined);
  assert.ok(prepared.network.tag, 'a network that lets nothing in needs rules');
  await fails(bed.plan({ text: cluster({ head: own('none') }) }), 'MANTA_GOOGLE_NO_SUBNET', 2);
});

test('a shared VPC whose firewall cannot be read is said, and nothing is made in it', async (t) => {
  const bed = await preparationBed(t);
  const host = bed.world.addProject('shared-host');
  const own = 'networkInterfaces: [{subnetwork: projects/shared-host/regions/us-central1/subnetworks/default}]';
  const text = cluster({ head: own, worker: own });
  const closed = await bed.plan({ text });
  assert.match(
    closed.warnings.join('\n'),
    /the firewall of the shared VPC \(project shared-host, subnet default\) cannot be read/,
  );
  host.grant(`serviceAccount:${bed.credentials.client_email}`, 'roles/compute.networkViewer');
  for (const { id, name } of host.firewalls.of(host.id)) if (name === 'default-allow-ssh') host.firewalls.delete(id);
  const open = await bed.plan({ text });
  assert.match(open.warnings.join('\n'), /no rule of the shared VPC .* allows this: SSH from 203\.0\.113\.7/);
  const prepared = await bed.up({ text });
  assert.deepEqual(
    prepared.made.filter(({ kind }) => kind === 'firewall rule'),
    [],
  );
});

test('external addresses are as Ray gives them, unless use_internal_ips or a policy says otherwise', async (t) => {
  const bed = await preparationBed(t);
  const inside = cluster({ provider: 'use_internal_ips: true' });
  assert.equal((await bed.up()).network.external, true);
  bed.project.policies.set('compute.vmExternalIpAccess', []);
  await fails(bed.plan(), 'MANTA_GOOGLE_EXTERNAL_DENIED', 5, /vmExternalIpAccess[^]*use_internal_ips/);
  assert.equal((await bed.up({ text: inside })).network.external, false);
  assert.match((await bed.plan({ text: inside })).warnings.join('\n'), /only through Cloud NAT/);
  bed.project.policies.set('compute.vmExternalIpAccess', ['projects/lab-project/zones/us-central1-a/instances/one']);
  assert.match((await bed.plan()).warnings.join('\n'), /allows external addresses to some instances only/);
});
