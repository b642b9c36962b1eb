// needs: ray, hosts, podman

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { FaultBed, leftOn, readable, unadorned } from './fault-bed.ts';

/**
 * What can go wrong before Ray is started: nothing here needs one. Each test has a host of its own, so that those that
 * wait for something wait together.
 */
describe('faults of a bring-up', { skip: labProblem('podman') ?? false, concurrency: 4 }, () => {
  let bed: FaultBed;
  const spare: LabHost[] = [];
  let engine: LabHost;

  before(async () => {
    const plain = Array.from({ length: 15 }, () => ({ node: true, cron: true, disk: '256m' }));
    bed = await FaultBed.open({ hosts: [{ node: true, podman: true }, ...plain] });
    engine = bed.hosts[0]!;
    spare.push(...bed.hosts.slice(1));
    await bed.laptop.must(
      'mkdir data; head -c 4000000 /dev/urandom >data/big; ssh-keygen -q -t ed25519 -N "" -f other',
    );
  });
  after(() => bed?.close());

  const takeHost = (): LabHost => spare.shift()!;
  const failing = { setup_commands: ['echo the package is not there; exit 3'] };
  const failed = (host: LabHost, words: readonly (string | RegExp)[]) => ({
    code: 'MANTA_BRINGUP_COMMAND_FAILED',
    exit: 4,
    says: [host.address, ...words],
  });

  it('a dead worker is named by down until it was reached, or given up', async () => {
    const [head, worker] = [takeHost(), takeHost()];
    const served = 'until [ -e .manta/head/clusters/dead/mantad.json ]; do sleep 0.1; done; exit 3';
    const file = bed.cluster({ name: 'dead', head, workers: [worker], more: { head_setup_commands: [served] } });
    readable(await bed.manta('up', '-y', file), failed(head, []));
    assert.match((await leftOn(worker)).join('\n'), /restrict,pty,from="[^"]*".* manta dead$/m);
    await worker.kill();
    const named = await bed.manta('down', '-y', file);
    assert.equal(named.code, 1, named.shown);
    assert.match(named.shown, /is down on 1 hosts, but not on these:\n {2}.*\nRun it again when they respond/);
    bed.cluster({ name: 'dead', head });
    readable(await bed.manta('up', '-y', file), {
      code: 'MANTA_LAUNCHER_HALF_DOWN',
      exit: 4,
      says: ["'manta down -n dead'", '--forget'],
    });
    await worker.boot();
    assert.match(await bed.must('down', '-y', file), /checked 2 hosts, nothing is left/);
    await bed.nothingLeft(head, worker);

    bed.cluster({ name: 'dead', head, workers: [worker], more: { head_setup_commands: ['exit 3'] } });
    readable(await bed.manta('up', '-y', file), failed(head, []));
    await worker.kill();
    const given = await bed.must('down', '-y', '--forget', file);
    assert.match(given, new RegExp(`given up and may still be running parts of it:\\n {2}.*${worker.address}`));
    await bed.nothingLeft(head);
    assert.match(
      await bed.must('down', '-y', '-n', 'dead', bed.cluster({ name: 'dead', head })),
      /There was no cluster/,
    );
  });

  it('a host that cannot be reached is waited for with the reason; Ctrl-C leaves nothing; down names it', async () => {
    const host = takeHost();
    const file = bed.cluster({ name: 'unreachable', head: host, more: failing });
    await host.cut();
    const up = bed.start(['up', '-y', file]);
    await up.said(/waiting up to .* for SSH: .*(?:timed out: .*timed out|cannot reach .*: No route)/);
    up.kill('SIGINT');
    const stopped = await up.ended;
    assert.equal(stopped.code, 130, stopped.shown);
    assert.match(stopped.shown, /interrupted by SIGINT/);
    assert.doesNotMatch(stopped.shown, /keep running on the hosts/, 'nothing was begun');
    readable(await bed.manta('down', '-y', file), {
      code: 'MANTA_LAUNCHER_HEAD_UNREACHED',
      exit: 4,
      says: [host.address, 'nothing was shut down', /hint: try again when the head responds/],
    });
    await host.mend();
    assert.match(await bed.must('down', '-y', file), /There was no cluster/);
    await bed.nothingLeft(host);
  });

  it('a host that refuses connections is waited for, told once, and used as soon as it accepts them', async () => {
    const host = takeHost();
    const file = bed.cluster({ name: 'refused', head: host, more: failing });
    await host.refuse();
    const up = bed.start(['up', '-y', file]);
    await up.said(/waiting up to .* for SSH: .* refused the SSH connection: .*Connection refused/);
    await host.accept();
    const ran = await up.ended;
    readable(ran, failed(host, ['setup command']));
    assert.equal(ran.shown.match(/waiting up to .* for SSH/g)?.length, 1);
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('a key that the host does not know is named, and nothing is touched', async () => {
    const host = takeHost();
    const auth = { ssh_user: 'root', ssh_private_key: '~/other' };
    const file = bed.cluster({ name: 'wrong-key', head: host, more: { auth } });
    readable(await bed.manta('up', '-y', file), {
      code: 'MANTA_SSH_AUTH_FAILED',
      exit: 4,
      says: [host.address, "as 'root'", '/root/other', 'auth.ssh_private_key'],
    });
    await bed.nothingLeft(host);
    assert.doesNotMatch(await bed.laptop.must('ls .manta/clusters'), /wrong-key\/cluster.json/);
  });

  it('another host key stops every command; the command that is named takes it, and all goes on', async () => {
    const host = takeHost();
    const file = bed.cluster({ name: 'host-key', head: host, more: failing });
    readable(await bed.manta('up', '-y', file), failed(host, []));
    await host.changeHostKey();
    await host.dropConnections();
    const says = [host.address, /SHA256:\S+.*SHA256:\S+/, 'someone may be impersonating this machine'];
    const ran = await bed.manta('up', '-y', file);
    readable(ran, { code: 'MANTA_SSH_HOST_KEY_CHANGED', exit: 4, says });
    readable(await bed.manta('down', '-y', file), { code: 'MANTA_LAUNCHER_HEAD_UNREACHED', exit: 4, says });
    const accept = /accept the new key with 'manta (host-key accept [^']+)'/.exec(ran.shown)?.[1]?.split(' ') ?? [];
    assert.match(await bed.must(...accept, '-y'), new RegExp(`Accepted the new key of ${host.address}: `));
    readable(await bed.manta('up', '-y', file), failed(host, []));
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('a file mount that is not there is named before any host is touched', async () => {
    const host = takeHost();
    const mounts = { file_mounts: { '/root/model': '/root/nowhere' } };
    const file = bed.cluster({ name: 'mount', head: host, more: mounts });
    await host.refuse();
    readable(await bed.manta('up', '-y', file), {
      code: 'MANTA_LAUNCHER_MOUNT_MISSING',
      exit: 2,
      says: ["'/root/model'", "'/root/nowhere'", 'nothing was changed'],
    });
    await host.accept();
    await bed.nothingLeft(host);
  });

  it('a host without rsync is named with the way to get it; with it the same up goes on', async () => {
    const host = takeHost();
    const more = { ...failing, file_mounts: { '/root/data': 'data' } };
    const file = bed.cluster({ name: 'rsync', head: host, more });
    await host.must('mv /usr/bin/rsync /usr/bin/rsync.away');
    readable(await bed.manta('up', '-y', file), {
      code: 'MANTA_SYNC_NO_RSYNC_THERE',
      exit: 1,
      says: [host.address, 'apt-get install -y rsync'],
    });
    await host.must('mv /usr/bin/rsync.away /usr/bin/rsync');
    readable(await bed.manta('up', '-y', file), failed(host, []));
    assert.equal(await host.must('wc -c <data/big'), '4000000\n');
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('a full disk is named as such wherever it is met, and down works on it', async () => {
    const host = takeHost();
    const file = bed.cluster({ name: 'full', head: host, more: { file_mounts: { '/root/data': 'data' } } });
    await host.fillDisk();
    const says = [host.address];
    readable(await bed.manta('up', '-y', file), { code: 'MANTA_BRINGUP_DISK_FULL', exit: 4, says });
    await host.freeDisk();
    bed.cluster({ name: 'full', head: host, more: failing });
    readable(await bed.manta('up', '-y', file), failed(host, []));
    bed.cluster({ name: 'full', head: host, more: { file_mounts: { '/root/data': 'data' } } });
    await host.fillDisk(2_500_000);
    readable(await bed.manta('up', '-y', file), {
      code: 'MANTA_SYNC_NO_SPACE',
      exit: 1,
      says: [host.address, "'/root/data/'"],
    });
    await host.freeDisk();
    const filling = 'head -c 400000000 /dev/zero >/root/filling';
    bed.cluster({ name: 'full', head: host, more: { setup_commands: [filling] } });
    const ran = await bed.manta('up', '-y', file);
    assert.match(ran.shown, /No space left on device|the disk of \S+ is full/);
    unadorned(ran.shown);
    assert.notEqual(ran.code, 0);
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('a setup command that fails once is run once more, and no more', async () => {
    const host = takeHost();
    const once = 'echo tried >>/root/tries; [ $(wc -l </root/tries) -gt 1 ]';
    const more = { setup_commands: [once, 'echo second >>/root/tries'], head_start_ray_commands: ['exit 9'] };
    const file = bed.cluster({ name: 'once', head: host, more });
    const ran = await bed.manta('up', '-y', file);
    readable(ran, failed(host, ['start command failed with exit code 9']));
    assert.match(ran.shown, /warning: .* exit code 1, retrying once: echo tried/);
    assert.equal(await host.must('cat tries'), 'tried\ntried\nsecond\n');
    readable(await bed.manta('up', '-y', file), failed(host, ['start command']));
    assert.equal(await host.must('cat tries'), 'tried\ntried\nsecond\n', 'finished steps are not repeated');
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('a setup command that always fails is shown with its output, exit code, host and the way there', async () => {
    const host = takeHost();
    const file = bed.cluster({ name: 'always', head: host, more: failing });
    const says = ['failed with exit code 3', '\n    the package is not there\n', `manta ssh -n always ${host.address}`];
    readable(await bed.manta('up', '-y', file), failed(host, says));
    assert.equal(await bed.must('ssh', '-n', 'always', host.address, '--', 'hostname'), `${host.name}\n`);
    bed.cluster({
      name: 'always',
      head: host,
      more: { setup_commands: ['true'], head_start_ray_commands: ['exit 9'] },
    });
    readable(await bed.manta('up', '-y', file), failed(host, ['start command']));
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('a setup command that hangs is told of; Ctrl-C says what goes on, and down ends it', async () => {
    const host = takeHost();
    const file = bed.cluster({ name: 'hangs', head: host, more: { setup_commands: ['echo now; sleep 4321'] } });
    const up = bed.start(['up', '-y', file]);
    await up.said(/warning: .*no output for \d+ s from: echo now; sleep 4321 \(last line: now\)/);
    up.kill('SIGINT');
    const { code, shown } = await up.ended;
    assert.equal(code, 130, shown);
    assert.match(
      shown,
      /its steps keep running on the hosts; run it again to resume, or 'manta down -n hangs' to shut it down/,
    );
    unadorned(shown);
    const hanging = (): boolean => host.processes().some(({ command }) => command.includes('4321'));
    assert.ok(hanging());
    const again = bed.start(['up', '-y', file]);
    await again.said(/setup command: 1 of 1/);
    again.kill('SIGINT');
    await again.ended;
    assert.equal(host.processes().filter(({ command }) => command.includes('4321')).length, 1, 'it is not run twice');
    await bed.must('down', '-y', '-n', 'hangs');
    assert.equal(hanging(), false);
    await bed.nothingLeft(host);
  });

  it('a connection that drops while files are copied and while commands run costs neither', async () => {
    const host = takeHost();
    const held = (part: string): string =>
      `echo ${part} >>/root/ran; until [ -e /root/${part}.go ]; do sleep 0.1; done`;
    const more = {
      file_mounts: { '/root/data': 'data' },
      initialization_commands: [held('initialization')],
      setup_commands: [held('setup')],
      head_start_ray_commands: [`${held('start')}; exit 9`],
    };
    const file = bed.cluster({ name: 'drops', head: host, more });
    await host.slow({ kbps: 4_000 });
    const up = bed.start(['up', '-y', file]);
    await until('files are copied', () => host.processes().some(({ command }) => command[0] === 'rsync'));
    assert.ok((await host.dropConnections()) > 0);
    await host.fast();
    const told = (): number =>
      up.shown().match(/lost the connection, reconnecting; the command keeps running there/g)?.length ?? 0;
    for (const part of ['initialization', 'setup', 'start']) {
      await until(`the ${part} command runs`, async () => (await host.exec(`grep -q ${part} ran`)).code === 0);
      const before = told();
      assert.ok((await host.dropConnections()) > 0);
      await until(`the drop during the ${part} command is told`, () => told() > before);
      await host.must(`touch ${part}.go`);
    }
    const ran = await up.ended;
    readable(ran, failed(host, ['start command failed with exit code 9']));
    assert.equal(
      await host.must('cat ran'),
      'initialization\nsetup\nstart\nstart\n',
      'a start that failed is tried twice',
    );
    assert.equal(await host.must('wc -c <data/big'), '4000000\n');
    await bed.must('down', '-y', file);
    await bed.nothingLeft(host);
  });

  it('containers: a missing engine, an unknown image and a refused login are three different messages', async () => {
    const host = takeHost();
    const box = (image: string) => ({ docker: { image, container_name: 'box' } });
    const { images, locked } = bed.lab.registry!;
    const noEngine = bed.cluster({ name: 'no-engine', head: host, more: box(images.base) });
    readable(await bed.manta('up', '-y', noEngine), {
      code: 'MANTA_CONTAINER_ENGINE_MISSING',
      exit: 1,
      says: [`docker is not installed on '${host.address}'`, 'initialization_commands'],
    });
    const noImage = bed.cluster({ name: 'box', head: engine, more: box(`${images.base}-none`) });
    readable(await bed.manta('up', '-y', noImage), {
      code: 'MANTA_CONTAINER_IMAGE_NOT_FOUND',
      exit: 1,
      says: [engine.address, `${images.base}-none`, 'check the name and tag'],
    });
    const refused = bed.cluster({ name: 'box', head: engine, more: box(locked.images.base) });
    readable(await bed.manta('up', '-y', refused), {
      code: 'MANTA_CONTAINER_LOGIN_REFUSED',
      exit: 1,
      says: [engine.address, locked.images.base, "'docker login'"],
    });
    assert.equal(await engine.must('docker ps -aq'), '');
    await bed.must('down', '-y', noEngine);
    await bed.must('down', '-y', refused);
    await bed.nothingLeft(host, engine);
  });
});
