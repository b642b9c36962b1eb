// needs: hosts

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lab, type LabHost, labProblem, openLab } from '../../lab/lab.ts';

const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new';
const impatient = `${ssh} -o ConnectTimeout=1`;

describe('faults of a host', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  let laptop: LabHost;
  let h1: LabHost;
  let h2: LabHost;
  before(async () => {
    lab = await openLab({ hosts: 2, cron: true, disk: '64m' });
    laptop = lab.laptop;
    [h1, h2] = lab.hosts as [LabHost, LabHost];
  });
  after(() => lab?.close());

  /** A command on a host over SSH that has begun and goes on until somebody stops it. */
  async function openSession(host: LabHost, options = ''): Promise<{ child: ChildProcess; ended: Promise<unknown[]> }> {
    const child = laptop.spawn(`exec ${ssh} ${options} ${host.name} 'echo begun; exec sleep 1000'`);
    const ended = once(child, 'exit');
    await once(child.stdout!, 'data');
    return { child, ended };
  }

  it('a power cut ends every process and tells nobody; disk and host key are there after the boot', async () => {
    await h1.must('echo kept > /root/file; echo kept > /etc/file; echo gone > /run/file; echo gone > /dev/shm/file');
    const key = await h1.must('cat /etc/ssh/ssh_host_ed25519_key.pub');
    const { child, ended } = await openSession(h1);
    await h1.kill();
    assert.equal(h1.up, false);
    assert.deepEqual(h1.processes(), []);
    assert.throws(() => h1.spawn('true'), /h1 is not up/);
    assert.equal((await laptop.exec(`${impatient} h1 true`)).code, 255);
    assert.equal(child.exitCode, null, 'the other end of a connection has heard nothing');
    await h1.boot();
    // The new kernel knows nothing of the connection and says so when it is used.
    child.kill();
    await ended;
    assert.equal(await h1.must('cat /root/file /etc/file'), 'kept\nkept\n');
    assert.notEqual((await h1.exec('cat /run/file /dev/shm/file')).code, 0);
    assert.equal(await h1.must('cat /etc/ssh/ssh_host_ed25519_key.pub'), key);
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n');
    await assert.rejects(h1.boot(), /up already/);
  });

  it('a reboot is one for programs that look, and runs what cron is to run then', async () => {
    await h1.must("echo '@reboot touch /root/rebooted' | crontab -");
    const ids = async (host: LabHost): Promise<string[]> =>
      (await host.must('cat /proc/sys/kernel/random/boot_id /etc/machine-id')).trim().split('\n');
    const [boot, machine] = await ids(h1);
    await h1.reboot();
    const [nextBoot, sameMachine] = await ids(h1);
    assert.notEqual(nextBoot, boot);
    assert.equal(sameMachine, machine);
    assert.notEqual((await ids(h2))[1], machine);
    while ((await h1.exec('test -e /root/rebooted')).code !== 0) await sleep(50);
  });

  it('a frozen host keeps its connections and does not answer until it is thawed', async () => {
    const { child, ended } = await openSession(h1);
    await h1.freeze();
    const tried = await laptop.exec(`${impatient} h1 true`);
    assert.match(tried.stderr, /banner exchange/);
    assert.equal(child.exitCode, null);
    await h1.thaw();
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n');
    child.kill();
    await ended;
    await h1.freeze();
    await h1.reboot();
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n', 'a frozen host can be switched off');
  });

  it('a cut cable is cut after a reboot too, and works when it is mended', async () => {
    const { child, ended } = await openSession(h2);
    await h2.cut();
    assert.match((await laptop.exec(`${impatient} h2 true`)).stderr, /timed out|No route/);
    await h2.mend();
    assert.equal(await laptop.must(`${ssh} h2 hostname`), 'h2\n');
    assert.equal(child.exitCode, null, 'a connection outlives a short cut');
    child.kill();
    await ended;
    await h2.cut();
    await h2.reboot();
    assert.equal((await laptop.exec(`${impatient} h2 true`)).code, 255);
    await h2.mend();
    assert.equal(await laptop.must(`${ssh} h2 hostname`), 'h2\n');
  });

  it('a slow cable carries everything, later; open connections live through the change', async () => {
    const roundTrips = async (): Promise<number> =>
      Number(/ rtt:([\d.]+)/.exec(await laptop.must(`${ssh} h1 'set -- $SSH_CLIENT; ss -tni dport = $2'`))?.[1]);
    const { child, ended } = await openSession(h1);
    await h1.slow({ latencyMs: 40 });
    assert.ok((await roundTrips()) >= 80);
    assert.equal(await laptop.must(`${ssh} -6 h1.v6 'echo $SSH_CLIENT' | cut -d' ' -f1`), `${laptop.address6}\n`);
    await h1.slow({ kbps: 20_000, loss: 0.01 });
    assert.equal(await laptop.must(`head -c 300000 /dev/zero | ${ssh} h1 'wc -c'`), '300000\n');
    await h1.slow({ latencyMs: 40 });
    await h1.reboot();
    assert.ok((await roundTrips()) >= 80, 'a reboot does not make it fast');
    child.kill();
    await ended;
    const other = await openSession(h1);
    await h1.fast();
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n');
    assert.equal(other.child.exitCode, null);
    other.child.kill();
    await other.ended;
    await h1.slow({ loss: 1 });
    assert.equal((await laptop.exec(`${impatient} h1 true`)).code, 255);
    await h1.fast();
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n');
  });

  it('dropped connections end for the client, and what they had started goes on', async () => {
    const { child, ended } = await openSession(h1);
    assert.ok((await h1.dropConnections()) > 0);
    assert.equal((await ended)[0], 255);
    assert.equal(child.signalCode, null);
    assert.ok(h1.processes().some(({ command }) => command.join(' ') === 'sleep 1000'));
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n');
  });

  it('connections can be refused and accepted again while open ones stay', async () => {
    const { child, ended } = await openSession(h1);
    await h1.refuse();
    assert.match((await laptop.exec(`${ssh} h1 true`)).stderr, /Connection refused/);
    await h1.accept();
    assert.equal(await laptop.must(`${ssh} h1 hostname`), 'h1\n');
    assert.equal(child.exitCode, null);
    child.kill();
    await ended;
  });

  it('a full disk takes no byte more, until it is freed', async () => {
    await h2.fillDisk();
    for (const path of ['/root/big', '/tmp/big', '/usr/local/big', '/home/ada/big']) {
      const { code, stderr } = await h2.exec(`head -c 100000 /dev/zero | tee ${path} > /dev/null`, {});
      assert.match(stderr, /No space left on device/, path);
      assert.notEqual(code, 0);
    }
    await h2.must('echo x > /dev/shm/memory-is-not-disk');
    await h2.freeDisk();
    await h2.must('head -c 100000 /dev/zero > /root/big');
    const { stderr } = await h2.exec('head -c 100000000 /dev/zero | tee /root/huge > /dev/null');
    assert.match(stderr, /No space left on device/, 'the disk has the size that was asked for');
    await h2.must('rm /root/huge');
  });

  it('another host key is noticed', async () => {
    await laptop.must(`${ssh} h2 true`);
    await h2.changeHostKey();
    assert.match((await laptop.exec(`${ssh} h2 true`)).stderr, /HOST IDENTIFICATION HAS CHANGED/);
  });
});
