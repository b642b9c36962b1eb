// needs: hosts

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';

const ssh = 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=20';
const repository = fileURLToPath(new URL('../..', import.meta.url));

describe('hosts of a lab', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  before(async () => {
    const started = performance.now();
    lab = await openLab({ hosts: [{}, {}, { node: true }] });
    process.stderr.write(`      a laptop and 3 hosts up in ${Math.round(performance.now() - started)} ms\n`);
  });
  after(() => lab?.close());

  it('have a name, an address and a clean home each', async () => {
    const [h1, h2] = lab.hosts;
    assert.equal(h1!.name, 'h1');
    assert.equal(await h1!.must('hostname'), 'h1\n');
    assert.match(await h2!.must('ip -br address show eth0'), new RegExp(`${h2!.address}/24`));
    assert.equal(await h1!.must('ls -A ~'), '.bashrc\n.profile\n.ssh\n');
    const shell = await h1!.must(['bash', '-lic', 'env'], { user: 'ada' });
    assert.match(shell, /^HOME=\/home\/ada$/m);
    assert.doesNotMatch(shell, /pyenv|NODE_EXTRA_CA_CERTS/);
  });

  it('see neither the processes nor the files of one another', async () => {
    const [h1, h2] = lab.hosts;
    for (const path of ['/tmp/mark', '/root/mark', '/dev/shm/mark', '/run/mark', '/usr/local/mark', '/var/tmp/mark'])
      await h1!.must(`echo mine > ${path}`);
    const found = await h2!.must('ls /tmp /root /dev/shm /run /usr/local /var/tmp');
    assert.doesNotMatch(found, /mark/);
    const sleeper = h1!.spawn('exec sleep 4321');
    await once(sleeper, 'spawn');
    assert.doesNotMatch(await h2!.must('ps ax -o args'), /sleep 4321/);
    sleeper.kill();
    await once(sleeper, 'close');
  });

  it('hold nothing of this machine but its programs', async () => {
    const [h1] = lab.hosts;
    assert.notEqual((await h1!.exec(['ls', repository])).code, 0);
    assert.notEqual((await h1!.exec('command -v podman || command -v docker')).code, 0, 'no container engine');
    assert.equal((await h1!.exec('command -v rsync tmux screen python3 crontab')).code, 0);
    assert.ok((await lab.laptop.must(['ls', repository])).includes('package.json'), 'the laptop has the repository');
  });

  it('have terminals, tmux and screen for every user', async () => {
    const [h1] = lab.hosts;
    // screen comes back before its socket is there.
    const listed = 'for i in $(seq 100); do screen -ls | grep -q two && break; sleep 0.2; done; screen -ls || true';
    const sessions = `tmux new-session -d -s one 'sleep 60' && tmux ls; screen -dmS two sleep 60; ${listed}`;
    assert.match(await h1!.must(sessions, { user: 'bob' }), /^one: [^]*\.two\s/m);
    const far = `script -qec '${ssh} -t ada@h1 tty' /dev/null`;
    assert.match(await lab.laptop.must(far), /\/dev\/pts\/\d/);
  });

  it('allow ten sessions on a connection, as OpenSSH does by itself', async () => {
    const shared = `${ssh} -o ControlPath=/tmp/master`;
    await lab.laptop.must(`${shared} -o ControlMaster=yes -fN h1 >/dev/null 2>&1`);
    const ten = Array.from({ length: 10 }, () => lab.laptop.spawn(`exec ${shared} h1 'echo begun; exec sleep 1000'`));
    await Promise.all(ten.map((child) => once(child.stdout!, 'data')));
    assert.match((await lab.laptop.exec(`${shared} h1 true`)).stderr, /Session open refused by peer/);
    const ended = ten.map((child) => once(child, 'exit'));
    await lab.laptop.must(`${shared} -O exit h1`);
    await Promise.all(ended);
  });

  it('have Node 24 in login shells where asked', async () => {
    assert.match(await lab.hosts[2]!.must(['bash', '-lc', 'node --version'], { user: 'bob' }), /^v24\./);
    assert.match(await lab.laptop.must(['bash', '-lc', 'node --version']), /^v24\./);
  });

  it('accept the key of the laptop for root, for a user with sudo and for one without', async () => {
    const { laptop } = lab;
    assert.equal(await laptop.must(`${ssh} h1 id -un`), 'root\n');
    assert.equal(await laptop.must(`${ssh} ada@h1 'sudo -n id -un'`), 'root\n');
    const bob = await laptop.exec(`${ssh} bob@h1 'id -un; sudo -n id -un'`);
    assert.equal(bob.stdout, 'bob\n');
    assert.notEqual(bob.code, 0);
    assert.equal(await laptop.must(`${ssh} h1 id -un`, { user: 'ada' }), 'ada\n');
    assert.equal(lab.key.length > 0 && readFileSync(lab.key, 'utf8'), await laptop.must('cat ~/.ssh/id_ed25519'));
  });

  it('accept nobody else', async () => {
    const { code, stderr } = await lab.hosts[0]!.exec(`${ssh} h2 true`);
    assert.equal(code, 255);
    assert.match(stderr, /Permission denied \(publickey\)/);
  });

  it('are reached through one another and over IPv6', async () => {
    const { laptop, hosts } = lab;
    await laptop.must(`${ssh} h1 true && ${ssh} h2 true`);
    assert.equal(await laptop.must(`${ssh} -J h1 h2 hostname`), 'h2\n');
    const from = await laptop.must(`${ssh} ada@${hosts[1]!.address6} 'echo $SSH_CONNECTION'`);
    assert.equal(from.split(' ')[0], laptop.address6);
  });

  it('reach nothing outside the lab, and learn so at once', async () => {
    const { code, stderr } = await lab.laptop.exec(`${ssh} 192.0.2.1 true`);
    assert.equal(code, 255);
    assert.match(stderr, /unreachable|No route/);
    assert.match((await lab.laptop.exec(`${ssh} no-such-host true`)).stderr, /resolve/);
  });

  it('run commands with their input, environment, folder, output and exit code', async () => {
    const [h1] = lab.hosts;
    const got = await h1!.exec('cat; echo "$A" >&2; pwd; exit 7', { input: 'in ', env: { A: 'a b' }, cwd: '/tmp' });
    assert.deepEqual(got, { code: 7, stdout: 'in /tmp\n', stderr: 'a b\n' });
    assert.equal((await h1!.exec('kill -9 $$')).code, 137);
    await assert.rejects(h1!.exec('sleep 1000', { within: 100 }), /did not end within 100 ms/);
    await assert.rejects(h1!.must('echo why >&2; exit 3'), /ended with 3: why/);
  });

  it('pass a signal on to the command itself', async () => {
    const child = lab.hosts[0]!.spawn('trap "echo heard; exit 5" INT; echo set; while :; do sleep 0.05; done');
    await once(child.stdout!, 'data');
    const heard = once(child.stdout!, 'data');
    const closed = once(child, 'close');
    child.kill('SIGINT');
    assert.equal(String((await heard)[0]), 'heard\n');
    assert.equal((await closed)[0], 5);
  });

  it('collect orphans', async () => {
    const [h1] = lab.hosts;
    await h1!.must('(sleep 0.01 &) ; true');
    for (let zombies = 'Z'; zombies.includes('Z'); await sleep(20)) zombies = await h1!.must('ps ax -o stat=');
  });

  it('show their processes and files to this machine', async () => {
    const [h1] = lab.hosts;
    const child = h1!.spawn('echo up; exec sleep 1234');
    await once(child.stdout!, 'data');
    // The shell says so just before it becomes the program.
    const found = await until('it runs', () => h1!.processes().find(({ command }) => command[1] === '1234'));
    assert.equal((await h1!.must(`cat /proc/${found.hostPid}/cmdline`)).split('\0')[1], '1234');
    process.kill(found.pid, 'SIGKILL');
    await once(child, 'close');
    await h1!.must('echo text > /root/seen');
    assert.equal(readFileSync(join(h1!.root, 'root/seen'), 'utf8'), 'text\n');
  });
});
