// needs: hosts

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { attachLab, type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { readRecords } from '../../lab/record.ts';
import { until } from '../contract/waiting.ts';

const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=20';

describe('a lab that grows', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  before(async () => {
    lab = await openLab({ hosts: 1 });
  });
  after(() => lab?.close());

  it('adds hosts with their own address, which others see, and takes them away whole', async () => {
    const host = await lab.addHost({});
    assert.equal(host.up, false);
    await host.boot();
    assert.deepEqual(
      lab.hosts.map(({ name }) => name),
      ['h1', host.name],
    );
    assert.equal(await lab.laptop.must(`${ssh} ${host.address} hostname`), `${host.name}\n`);
    const seen = await attachLab(readRecords().find(({ id }) => id === lab.id)!);
    assert.ok(seen.hosts.find(({ name }) => name === host.name)?.up, 'another process finds it');
    await lab.removeHost(host);
    await lab.removeHost(host);
    assert.equal(host.up, false);
    assert.ok(!existsSync(`/run/manta-lab/${lab.id}/${host.name}`));
    const next = await lab.addHost({});
    assert.notEqual(next.address, host.address, 'an address is used again as late as can be');
    await lab.removeHost(next);
  });

  it('gives a host keys and a first program of its own, and no sshd where none is wanted', async () => {
    const host = await lab.addHost({ keys: [], first: 'date +%s%N >> /root/first' });
    await host.boot();
    assert.match((await lab.laptop.exec(`${ssh} ${host.address} true`)).stderr, /Permission denied/);
    await host.reboot();
    assert.equal((await host.must('wc -l < /root/first')).trim(), '1');
    const silent = await lab.addHost({ sshd: false });
    await silent.boot();
    assert.match((await lab.laptop.exec(`${ssh} ${silent.address} true`)).stderr, /refused/);
    await Promise.all([lab.removeHost(host), lab.removeHost(silent)]);
  });

  it('is told when a host switches itself off, and not when it is killed', async () => {
    let told = 0;
    const host = await lab.addHost({}, () => told++);
    await host.boot();
    assert.notEqual((await host.exec('shutdown -h now', { user: 'ada' })).code, 0, 'that is for root');
    assert.notEqual((await host.exec('shutdown -r +5')).code, 0);
    await host.kill();
    await host.boot();
    assert.equal(told, 0);
    await host.exec('/sbin/shutdown -h now');
    await until('it is told', () => told === 1);
    assert.equal(host.up, false);
    await host.boot();
    await host.must('true');
    await lab.removeHost(host);
  });

  it('keeps its switch reachable while hosts come and go', async () => {
    const asked = `ip neigh flush all; bash -c 'echo > /dev/tcp/${lab.gateway}/1' 2>/dev/null; ip neigh show ${lab.gateway}`;
    const at = async () => /lladdr (\S+)/.exec(await lab.laptop.must(asked))?.[1];
    const before = await at();
    const added = await Promise.all(Array.from({ length: 4 }, () => lab.addHost({})));
    await Promise.all(added.map((host) => host.boot()));
    assert.equal(await at(), before);
    await Promise.all(added.map((host) => lab.removeHost(host)));
    assert.equal(await at(), before);
    assert.ok(before);
  });
});
