// needs: openssl, google-discovery, hosts

/** Machines of the fake of Google that boot: log in, startup scripts, metadata, power, slices. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type LabGoogle, labProject, openLabGoogle } from '../../lab/google/open.ts';
import { type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { type Answer, type Ask, asker, compute, machine, slice, tpu, zone } from './google-bed.ts';

const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=20';
const instances = `${compute}/zones/${zone}/instances`;
const nodes = `${tpu}/us-central2-b/nodes`;

describe('Google on the switch of a lab', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  let google: LabGoogle;
  let ask: Ask;
  let key: string;
  before(async () => {
    lab = await openLab({ hosts: 0 });
    google = await openLabGoogle(lab);
    ask = asker(google.localEndpoint, google.token);
    key = readFileSync(`${lab.key}.pub`, 'utf8').trim();
  });
  after(async () => {
    await google?.close();
    await lab?.close();
  });

  const get = (name: string): Promise<Answer> => ask('GET', `${instances}/${name}`);
  const wait = async (call: Promise<Answer>): Promise<Answer> =>
    ask('POST', `${new URL((await call).selfLink).pathname}/wait`);
  const reaches = (name: string, status: string) =>
    until(`${name} is ${status}`, async () => (await get(name)).status === status);
  const insert = async (name: string, items: Readonly<Record<string, string>>, more: object = {}) => {
    const metadata = { items: Object.entries(items).map(([each, value]) => ({ key: each, value })) };
    const done = await wait(ask('POST', instances, machine(name, { metadata, ...more })));
    assert.equal(done.error, undefined, JSON.stringify(done.error));
    return (await get(name)).networkInterfaces[0].accessConfigs[0].natIP as string;
  };
  const end = (name: string) => wait(ask('DELETE', `${instances}/${name}`));
  /** What a machine is told by its metadata; the status where it is not told. */
  const told = async (name: string, path: string, header = "-H 'Metadata-Flavor: Google'") => {
    const url = `http://metadata.google.internal/computeMetadata/v1/${path}`;
    const { stdout, stderr } = await google.host(name)!.exec(`curl -s -w '%{stderr}%{http_code}' ${header} '${url}'`);
    return stderr === '200' ? stdout : Number(stderr);
  };

  it('lets in the keys of its metadata by the outside address, as they are now', async () => {
    const address = await insert('one', { 'ssh-keys': `ray:${key}` });
    const who = `${ssh} ray@${address} 'id -un; sudo -n id -un; echo $HTTPS_PROXY'`;
    assert.equal(await lab.laptop.must(who), `ray\nroot\n${google.endpoint}\n`);
    const inside = (await get('one')).networkInterfaces[0].networkIP as string;
    assert.match((await lab.laptop.exec(`${ssh} ray@${inside} true`)).stderr, /No route|unreachable/);
    const { fingerprint } = (await get('one')).metadata;
    const items = [{ key: 'ssh-keys', value: `eve:${key}` }];
    await wait(ask('POST', `${instances}/one/setMetadata`, { items, fingerprint }));
    await until('the new key is taken', async () => (await lab.laptop.exec(`${ssh} eve@${address} true`)).code === 0);
    await until('the old one is gone', async () => (await lab.laptop.exec(`${ssh} ray@${address} true`)).code !== 0);
    await end('one');
    assert.equal(lab.hosts.length, 0);
  });

  it('is reached from the laptop by the names of Google', async () => {
    const environment = await google.equip(lab.laptop);
    assert.equal(environment['HTTPS_PROXY'], google.endpoint);
    const program = fileURLToPath(new URL('./google-client.ts', import.meta.url));
    await insert('seen', {});
    const said = await lab.laptop.must(['bash', '-lc', `node ${program} list`], { user: 'root' });
    assert.equal(said, `${labProject} seen\n`);
    await end('seen');
  });

  it('takes the keys of the project and of OS Login where it should', async () => {
    google.project.metadata = new Map([['ssh-keys', `pat:${key}`]]);
    const open = await insert('open', {});
    assert.equal(await lab.laptop.must(`${ssh} pat@${open} id -un`), 'pat\n');
    const blocked = await insert('blocked', { 'block-project-ssh-keys': 'TRUE' });
    assert.notEqual((await lab.laptop.exec(`${ssh} pat@${blocked} true`)).code, 0);
    google.addUser('ada@example.com', 'roles/compute.osLogin');
    const ada = asker(google.localEndpoint, () => google.world.tokens.give('ada@example.com'));
    await ada('POST', '/v1/users/ada@example.com:importSshPublicKey', { key });
    const login = await insert('login', { 'enable-oslogin': 'TRUE', 'ssh-keys': `ray:${key}` });
    assert.equal(await lab.laptop.must(`${ssh} ada_example_com@${login} id -un`), 'ada_example_com\n');
    assert.notEqual((await lab.laptop.exec(`${ssh} ray@${login} true`)).code, 0, 'keys of the metadata are useless');
    await Promise.all(['open', 'blocked', 'login'].map(end));
  });

  it('runs its startup script at every boot, and keeps its disk when it switches itself off', async () => {
    const script = '#!/bin/bash\necho "boot $(id -un) ${BASH_VERSION:+bash}" >> /root/boots';
    await insert('one', { 'startup-script': script });
    const boots = async () => (await google.host('one')!.exec('cat /root/boots')).stdout;
    await until('it has run', async () => (await boots()) === 'boot root bash\n');
    await until('the console says so', async () =>
      /startup-script exit status 0/.test((await ask('GET', `${instances}/one/serialPort`)).contents),
    );
    await google.host('one')!.exec('shutdown -h now');
    await reaches('one', 'TERMINATED');
    assert.equal((await ask('GET', `${compute}/zones/${zone}/disks/one`)).sizeGb, '50');
    await wait(ask('POST', `${instances}/one/start`));
    await until('it has run again', async () => (await boots()) === 'boot root bash\nboot root bash\n');
    await end('one');
  });

  it('tells a machine about itself, and lets it end itself with its own token', async () => {
    const serviceAccounts = [{ email: 'default', scopes: ['https://www.googleapis.com/auth/cloud-platform'] }];
    await insert('one', {}, { serviceAccounts, scheduling: { preemptible: true } });
    assert.equal(await told('one', 'instance/name', ''), 403, 'without the header');
    assert.equal(await told('one', 'instance/name'), 'one');
    assert.equal(await told('one', 'project/project-id'), labProject);
    assert.equal(await told('one', 'instance/attributes/none'), 404);
    assert.equal(await told('one', 'instance/preempted'), 'FALSE');
    assert.match(String(await told('one', 'instance/service-accounts/default/identity?audience=a')), /^ey/);
    const url = `https://compute.googleapis.com${instances}/one`;
    const program = `. /etc/profile.d/lab-google.sh
      t=$(curl -s -H 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token |
        sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
      curl -sf -X DELETE -H "Authorization: Bearer $t" ${url}`;
    await google.host('one')!.exec(program);
    await until('it is gone', () => google.cloud.existing().length === 0);
  });

  it('makes a slice of hosts that know their place, and leaves it READY when one switches itself off', async () => {
    const body = slice({ metadata: { 'ssh-keys': `ray:${key}` } });
    const { name } = await ask('POST', `${nodes}?nodeId=n`, body);
    await until('it is ready', async () => (await ask('GET', `/v2/${name}`)).done);
    const { networkEndpoints } = await ask('GET', `${nodes}/n`);
    const [first, second] = networkEndpoints as readonly Answer[];
    assert.equal(await lab.laptop.must(`${ssh} ray@${first.accessConfig.externalIp} id -un`), 'ray\n');
    await google.host('n/0')!.must(`timeout 5 bash -c 'echo > /dev/tcp/${second.ipAddress}/22'`);
    assert.equal(await told('n/1', 'instance/attributes/agent-worker-number'), '1');
    assert.equal(await told('n/1', 'instance/attributes/accelerator-type'), 'v4-16');
    const host = google.host('n/1')!;
    await host.exec('shutdown -h now');
    await until('it is off', () => !host.up);
    assert.equal((await ask('GET', `${nodes}/n`)).state, 'READY');
    await ask('DELETE', `${nodes}/n`);
    await until('nothing is left', () => lab.hosts.length === 0);
  });
});
