// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specOf } from '../../core/spec/cluster-text.ts';
import { cluster, fails, preparationBed } from './prepare-bed.ts';

const image = (source: string, size = 50): string =>
  `machineType: n2-standard-4, disks: [{boot: true, initializeParams: {diskSizeGb: ${size}, sourceImage: ${source}}}]`;
const ubuntu = 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts';
const withWorker = (worker: string): string =>
  cluster().replace(/(worker: \{.*node_config: )\{.*\}\}$/m, `$1{${worker}}}`);

test('machines and their accelerators tell what they give to Ray', async (t) => {
  const { up } = await preparationBed(t);
  const resources = async (worker: string): Promise<unknown> =>
    (await up({ text: withWorker(worker) })).types['worker']!.resources;
  const gib = 2 ** 30;
  assert.deepEqual(await resources('machineType: n1-highmem-8'), { CPU: 8, memory: Math.floor(52 * gib * 0.7) });
  assert.deepEqual(await resources('machineType: custom-6-16384'), { CPU: 6, memory: Math.floor(16 * gib * 0.7) });
  assert.deepEqual(await resources('machineType: zones/us-central1-f/machineTypes/a2-highgpu-4g'), {
    CPU: 48,
    memory: Math.floor(340 * gib * 0.7),
    GPU: 4,
    'accelerator_type:A100': 1,
  });
  const t4 = 'projects/other/zones/us-central1-f/acceleratorTypes/nvidia-tesla-t4';
  assert.deepEqual(
    await resources(`machineType: n1-standard-4, guestAccelerators: [{acceleratorType: ${t4}, acceleratorCount: 2}]`),
    { CPU: 4, memory: Math.floor(15 * gib * 0.7), GPU: 2, 'accelerator_type:T4': 1 },
  );
});

test('what a plan completes is what Google says, and what the file says stays', async (t) => {
  const { plan } = await preparationBed(t);
  const text = cluster().replace(
    'worker: {min_workers: 0, max_workers: 2, resources: {}',
    'worker: {max_workers: 2, resources: {CPU: 3}',
  );
  const whole = (await plan({ text })).complete!(specOf(text));
  const [head, worker] = whole.nodeTypes;
  assert.equal(head!.resources['CPU'], 4);
  assert.equal(worker!.resources['CPU'], 3);
});

test('without a zone in the file a type goes where all of it is offered', async (t) => {
  const { up } = await preparationBed(t);
  const text = withWorker(
    `machineType: n1-standard-4, guestAccelerators: [{acceleratorType: nvidia-tesla-p4, acceleratorCount: 1}]`,
  );
  const prepared = await up({ text: text.replace(', availability_zone: us-central1-a', '') });
  assert.deepEqual(prepared.zones, ['us-central1-a', 'us-central1-b', 'us-central1-c', 'us-central1-f']);
  assert.deepEqual(prepared.types['worker']!.zones, ['us-central1-a', 'us-central1-c']);
});

test('machines, accelerators, zones and regions that do not exist are refused with others that do', async (t) => {
  const { plan } = await preparationBed(t);
  const refused = (text: string, code: string, words: RegExp): Promise<unknown> =>
    fails(plan({ text }), `MANTA_GOOGLE_${code}`, 2, words);
  await refused(withWorker('machineType: n9-standard-4'), 'UNKNOWN_MACHINE', /n2-standard-4/);
  await refused(
    withWorker('machineType: n1-standard-4, guestAccelerators: [{acceleratorType: nvidia-x1, acceleratorCount: 1}]'),
    'UNKNOWN_ACCELERATOR',
    /nvidia-tesla-t4/,
  );
  await refused(
    cluster({ places: 'region: us-central1, availability_zone: us-west1-a' }),
    'ZONE_OUTSIDE',
    /us-central1-f/,
  );
  await refused(
    cluster({ places: 'region: eu-west4, availability_zone: eu-west4-a' }),
    'UNKNOWN_REGION',
    /europe-west4/,
  );
  await refused(withWorker('disks: []'), 'BAD_FILE', /machineType is missing/);
});

test('images that do not exist, are for other machines or need larger disks are refused', async (t) => {
  const { plan, up } = await preparationBed(t);
  const refused = (worker: string, code: string, words: RegExp): Promise<unknown> =>
    fails(plan({ text: withWorker(worker) }), `MANTA_GOOGLE_${code}`, 2, words);
  await refused(image('projects/ubuntu-os-cloud/global/images/family/ubuntu-1004'), 'NO_IMAGE', /ubuntu-1004/);
  await refused(image(ubuntu, 5), 'SMALL_DISK', /needs 10 GB/);
  await refused(
    image('projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-arm64'),
    'OTHER_ARCHITECTURE',
    /ARM64.*X86_64/,
  );
  const prepared = await up({ text: withWorker('machineType: n2-standard-4') });
  assert.match(prepared.types['worker']!.sourceImage ?? '', /common-cpu$/);
});

test('an instance template gives what the file leaves out', async (t) => {
  const { up, project, plan } = await preparationBed(t);
  const properties = { machineType: 'n2-standard-8' };
  project.templates.set('mine', { name: 'mine', id: '1', createdAt: 0, properties });
  const prepared = await up({ text: withWorker('sourceInstanceTemplate: global/instanceTemplates/mine') });
  assert.equal(prepared.types['worker']!.machine, 'n2-standard-8');
  await fails(plan({ text: withWorker('sourceInstanceTemplate: none') }), 'MANTA_GOOGLE_NO_TEMPLATE', 2);
});

test('a slice tells its hosts, its topology and what each host gives to Ray', async (t) => {
  const { up } = await preparationBed(t);
  const slice = async (machine: string, places: string): Promise<unknown> =>
    (await up({ text: cluster({ machine, places }) })).types['worker'];
  const v4 = 'region: us-central2, availability_zone: us-central2-b';
  const memory = Math.floor(407 * 2 ** 30 * 0.7);
  assert.deepEqual(await slice('acceleratorType: v4-16', v4), {
    kind: 'tpu',
    machine: 'v4-16',
    resources: { CPU: 240, memory, TPU: 4 },
    zones: ['us-central2-b'],
    slice: { type: 'v4-16', hosts: 2, topology: '2x2x2' },
  });
  assert.deepEqual(await slice('acceleratorConfig: {type: V4, topology: 2x2x4}', v4), {
    kind: 'tpu',
    machine: 'v4-32',
    resources: { CPU: 240, memory, TPU: 4 },
    zones: ['us-central2-b'],
    slice: { type: 'v4-32', hosts: 4, topology: '2x2x4' },
  });
  const lite = (await slice('acceleratorType: v5litepod-8', 'region: us-west4, availability_zone: us-west4-a')) as {
    readonly resources: object;
    readonly slice: object;
  };
  assert.deepEqual(lite.slice, { type: 'v5litepod-8', hosts: 1, topology: '2x4' });
});

test('slices, topologies and runtime versions that a zone does not list are refused, and a slice as head', async (t) => {
  const { plan } = await preparationBed(t);
  const places = 'region: us-central2, availability_zone: us-central2-b';
  const refused = (machine: string, code: string, words: RegExp, worker = ''): Promise<unknown> =>
    fails(plan({ text: cluster({ machine, places, worker }) }), `MANTA_GOOGLE_${code}`, 2, words);
  await refused('acceleratorType: v5p-8', 'UNKNOWN_ACCELERATOR', /us-central2-b does not offer[^]*v4-8/);
  await refused(
    'acceleratorConfig: {type: V4, topology: 3x3x3}',
    'UNKNOWN_ACCELERATOR',
    /3x3x3[^]*\{type: V4, topology: 2x2x1\}/,
  );
  await refused('acceleratorConfig: {type: V4, topology: large}', 'BAD_FILE', /is not a type of TPU/);
  await refused('acceleratorType: tpu', 'BAD_FILE', /is not a type of TPU: tpu/);
  const other = cluster({ machine: 'acceleratorType: v4-8', places }).replace('tpu-ubuntu2204-base', 'tpu-vm-none');
  await fails(plan({ text: other }), 'MANTA_GOOGLE_UNKNOWN_RUNTIME', 2, /tpu-vm-none[^]*tpu-ubuntu2204-base/);
  const head = cluster({ machine: 'acceleratorType: v4-8', places }).replace(
    'head_node_type: head',
    'head_node_type: worker',
  );
  await fails(plan({ text: head }), 'MANTA_GOOGLE_BAD_FILE', 2, /makes the head a TPU slice/);
});

test('a slice that its zone does not sell is only a warning where other workers are', async (t) => {
  const { plan } = await preparationBed(t);
  const places = 'region: us-central2, availability_zone: us-central2-b';
  const text = cluster({ machine: 'acceleratorType: v4-8', places }).replace(
    'head_node_type',
    '  other: {min_workers: 0, max_workers: 1, resources: {}, node_config: {acceleratorType: v5p-8, runtimeVersion: tpu-ubuntu2204-base}}\nhead_node_type',
  );
  assert.match(
    (await plan({ text })).warnings.join('\n'),
    /node type 'other' cannot be launched: us-central2-b does not offer/,
  );
  const wanted = text.replace('other: {min_workers: 0', 'other: {min_workers: 1');
  await fails(plan({ text: wanted }), 'MANTA_GOOGLE_UNKNOWN_ACCELERATOR', 2);
});

test('the plan says which workers may not delete themselves', async (t) => {
  const { plan, up, project } = await preparationBed(t);
  assert.match((await plan()).warnings.join('\n'), /workers of worker have no service account that may delete them/);
  const account = (scope: string): string =>
    cluster({ worker: `serviceAccounts: [{email: default, scopes: [https://www.googleapis.com/auth/${scope}]}]` });
  assert.match((await plan({ text: account('devstorage.read_only') })).warnings.join('\n'), /that may delete them/);
  assert.doesNotMatch((await plan({ text: account('cloud-platform') })).warnings.join('\n'), /that may delete them/);
  const text = cluster({
    machine: 'acceleratorType: v4-8',
    places: 'region: us-central2, availability_zone: us-central2-b',
  });
  assert.equal((await up({ text })).leaseDeletes, true, 'the account of the project is an editor');
  project.bind(project.bindings.filter(({ role }) => role !== 'roles/editor'));
  assert.match((await plan({ text })).warnings.join('\n'), /slices of worker have no lease/);
  assert.equal((await up({ text })).leaseDeletes, false);
});
