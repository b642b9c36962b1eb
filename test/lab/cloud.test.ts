// needs: hosts

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type LabCloud, openLabCloud } from '../../lab/cloud/open.ts';
import { type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { shellQuoted } from '../../src/base/shell/shell-quote.ts';
import { bootWatchdog, leaseText } from '../../src/bringup/lease/lease.ts';
import { type NodeOrder, nodeFolder } from '../../src/bringup/node/node.ts';
import type { LabCloudProvider } from '../../src/providers/lab-cloud/provider.ts';
import type { ProviderInstance } from '../../src/providers/provider.ts';
import { never, until } from '../contract/waiting.ts';
import { providerOf } from '../providers/lab-cloud/cloud-bed.ts';

const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=20';
const order: NodeOrder = {
  cluster: 'bed',
  instance: 'i',
  kind: 'worker',
  type: 'worker',
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  loginShells: false,
  usageStats: false,
};
const contract = fileURLToPath(new URL('./cloud-contract-inside.ts', import.meta.url));

describe('a lab cloud', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  let cloud: LabCloud;
  let provider: LabCloudProvider;
  let tokens = 0;
  let boots: string | undefined;
  before(async () => {
    lab = await openLab({ hosts: 1 });
    cloud = await openLabCloud(lab);
    const publicKey = readFileSync(`${lab.key}.pub`, 'utf8').trim();
    provider = providerOf(
      { endpoint: cloud.localEndpoint, token: cloud.token, keepsStopped: true },
      { login: () => ({ user: 'ubuntu', publicKey }), bootProgram: () => boots ?? 'true' },
    );
  });
  after(async () => {
    await cloud?.close();
    await lab?.close();
  });

  const launch = async (count = 1): Promise<readonly ProviderInstance[]> => {
    const request = { token: `t${tokens++}`, type: 'worker', count, market: 'on-demand', tags: {} } as const;
    const made = await provider.launch(request, never);
    assert.equal(made.length, count);
    return Promise.all(made.map(({ id }) => running(id)));
  };
  const found = async (id: string): Promise<ProviderInstance | undefined> =>
    (await provider.list(never)).find((instance) => instance.id === id);
  const running = (id: string): Promise<ProviderInstance> =>
    until(`${id} runs`, async () => {
      const instance = await found(id);
      return instance?.state === 'running' && instance;
    });
  const gone = (id: string): Promise<true> => until(`${id} is gone`, async () => (await found(id)) === undefined);

  it('gives machines that let in who was named at their launch, and nobody else', async () => {
    const [first, second] = await launch(2);
    const say = `${ssh} ubuntu@${first!.address?.inside} 'id -un; sudo -n id -un; cat /etc/ssh/ssh_host_ed25519_key.pub'`;
    const said = (await lab.laptop.must(say)).split('\n');
    assert.deepEqual(said.slice(0, 2), ['ubuntu', 'root']);
    const other = await lab.laptop.must(
      `${ssh} ubuntu@${second!.address?.inside} 'cat /etc/ssh/ssh_host_ed25519_key.pub'`,
    );
    assert.notEqual(said[2], other.trim(), 'each has a host key of its own');
    assert.match((await lab.laptop.exec(`${ssh} root@${first!.address?.inside} true`)).stderr, /Permission denied/);
    assert.match(await provider.consoleOutput(first!.id, never), /first boot is over/);
    await provider.terminate([first!.id, second!.id], never);
    await Promise.all([gone(first!.id), gone(second!.id)]);
    assert.equal(lab.hosts.length, 1);
  });

  it('passes the contract of providers from a host of the lab', async () => {
    const { code, stdout, stderr } = await lab.laptop.exec(['node', '--test', contract], {
      env: { CLOUD: cloud.endpoint, CLOUD_ADMIN_TOKEN: cloud.adminToken },
      within: 240_000,
    });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /ℹ fail 0/);
  });

  it('keeps the disk of an instance that is stopped, and gives a new one to a new instance', async () => {
    const [instance] = await launch();
    await cloud.host(instance!.id)!.must('echo kept > /home/mark');
    await provider.stop([instance!.id], never);
    await until('it is stopped', async () => (await found(instance!.id))?.state === 'stopped');
    assert.equal(cloud.host(instance!.id)!.up, false);
    const [started] = await launch();
    assert.equal(started?.id, instance!.id, 'a launch starts what is stopped before it makes others');
    assert.equal(await cloud.host(instance!.id)!.must('cat /home/mark'), 'kept\n');
    const [fresh] = await launch();
    assert.notEqual((await cloud.host(fresh!.id)!.exec('cat /home/mark')).code, 0);
  });

  it('lets an instance switch itself off, which ends it', async () => {
    const [instance] = await launch();
    await lab.laptop.exec(`${ssh} ubuntu@${instance!.address?.inside} sudo shutdown -h now`);
    await gone(instance!.id);
    const told = (await cloud.admin.instances()).find(({ id }) => id === instance!.id);
    assert.equal(told?.reason, 'it switched itself off');
  });

  it('has machines that end themselves when nobody gives them a lease, and stay when somebody does', async () => {
    boots = bootWatchdog('bed', 'ubuntu', 25_000);
    const [left, taken] = await launch(2);
    boots = undefined;
    const lease = leaseText({ ...order, lease: { lasts: 600_000, powersOff: true } });
    const folder = nodeFolder('bed');
    await lab.laptop.must(`${ssh} ubuntu@${taken!.address?.inside} ${shellQuoted(`mkdir -p ${folder}\n${lease}`)}`);
    await gone(left!.id);
    assert.equal((await cloud.admin.instances()).find(({ id }) => id === left!.id)?.reason, 'it switched itself off');
    const host = cloud.host(taken!.id)!;
    await until(
      'the watchdog of its boot has ended',
      async () => (await host.exec('pgrep -f "[m]anta-boot$"')).code === 1,
    );
    assert.equal((await found(taken!.id))?.state, 'running');
    await provider.terminate([taken!.id], never);
    await gone(taken!.id);
  });

  it('tells an instance about itself, its preemption too, and ends it when it asks', async () => {
    const [instance, other] = await launch(2);
    const ask = (path: string, more = '') =>
      cloud.host(instance!.id)!.exec(`curl -s -H 'Metadata: true' ${more} http://169.254.169.254/latest/${path}`);
    assert.equal(JSON.parse((await ask('instance')).stdout).id, instance!.id);
    assert.equal(JSON.parse((await ask('preemption')).stdout).error.code, 'NotFound');
    await cloud.admin.preempt(instance!.id, 3600);
    const noticed = await until('the list tells', async () => (await found(instance!.id))?.preemptionAt);
    assert.equal(Date.parse(JSON.parse((await ask('preemption')).stdout).at), noticed);
    const laptop = await lab.laptop.must("curl -s -H 'Metadata: true' http://169.254.169.254/latest/instance");
    assert.equal(JSON.parse(laptop).error.code, 'AccessDenied');
    await ask('terminate', '-X POST');
    await gone(instance!.id);
    assert.equal((await found(other!.id))?.state, 'running');
  });

  it('takes a preempted machine away when its time has come', async () => {
    const [instance] = await launch();
    await cloud.admin.preempt(instance!.id, 0.2);
    assert.ok(await until('the notice', async () => (await found(instance!.id))?.preemptionAt));
    await gone(instance!.id);
    assert.equal(cloud.host(instance!.id), undefined);
  });

  it('has machines that never answer, that have no sshd, and that vanish', async () => {
    await cloud.admin.fault({ fault: 'dead-boot', times: 1 });
    const [dead] = await launch();
    assert.equal(cloud.host(dead!.id)!.up, false);
    await cloud.admin.fault({ fault: 'no-ssh', times: 1 });
    const [deaf] = await launch();
    assert.match((await lab.laptop.exec(`${ssh} ubuntu@${deaf!.address?.inside} true`)).stderr, /refused/);
    await cloud.admin.vanish(deaf!.id);
    assert.equal(await found(deaf!.id), undefined);
    await cloud.admin.fault({ fault: 'hang-boot', times: 1 });
    const request = { token: 'hangs', type: 'worker', count: 1, market: 'on-demand', tags: {} } as const;
    const [hung] = await provider.launch(request, never);
    await until('it has an address', async () => (await found(hung!.id))?.address?.inside);
    assert.equal((await found(hung!.id))?.state, 'pending');
    await provider.terminate([hung!.id, dead!.id], never);
    await gone(hung!.id);
  });

  it('leaves nothing of its instances behind', async (t) => {
    await cloud.admin.calm();
    const began = performance.now();
    await launch(10);
    t.diagnostic(`10 instances run ${Math.round(performance.now() - began)} ms after the launch`);
    await cloud.admin.empty();
    assert.equal(lab.hosts.length, 1);
    assert.ok((await cloud.admin.instances()).every(({ exists }) => !exists));
  });
});
