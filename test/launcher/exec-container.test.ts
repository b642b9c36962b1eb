// needs: hosts, podman

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { labProblem } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { type Bed, openBed } from './exec-bed.ts';

const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));

describe('commands on a head with a container', { skip: labProblem('podman') ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed({ container: 'ray_box', more: 'file_mounts: {/opt/project: ./project}\n' });
    await bed.laptop.must('mkdir -p project; echo 1 > project/a');
    await bed.head.must(`docker exec ray_box touch /in-the-box`);
  });
  after(() => bed?.close());
  const exec = (...words: string[]): ReturnType<Bed['manta']> => bed.manta(['exec', 'cluster.yaml', ...words]);

  it('run in it, and on the host where that is asked for', async () => {
    const { code, stdout, stderr } = await exec('ls /in-the-box; echo $RAY_AUTH_MODE; exit 7');
    assert.deepEqual([code, stdout, stderr], [7, '/in-the-box\ninside\n', '']);
    assert.notEqual((await exec('--run-env', 'host', 'ls /in-the-box')).code, 0);
    assert.match((await exec('docker ps')).stdout, /ray_box/);
  });

  it('carry bytes into it and out of it as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    const { stdout } = await bed.manta(['exec', 'cluster.yaml', 'sha256sum'], { input: bytes });
    const again = await bed.laptop.exec('sha256sum', { input: bytes });
    assert.equal(stdout, again.stdout);
  });

  it('end in it when the connection is lost', async () => {
    const child = bed.laptop.spawn(['node', manta, 'exec', 'cluster.yaml', 'sleep 4341']);
    const closed = once(child, 'close');
    const inBox = (): boolean => bed.head.processes().some(({ command }) => command.join(' ') === 'sleep 4341');
    await until('it runs in the container', inBox);
    const client = bed.laptop.processes().find(({ command }) => /^ssh .*sleep 4341/s.test(command.join(' ')));
    process.kill(client!.pid, 'SIGKILL');
    await closed;
    await bed.gone(bed.head, 'sleep 4341');
  });

  it('end in it when the terminal hangs up, and hear Ctrl-C before', async () => {
    await bed.inTerminal(['exec', 'cluster.yaml', 'echo up; exec sleep 4342'], [{ after: 'up', hangUp: true }]);
    await bed.gone(bed.head, 'sleep 4342');
    const { code } = await bed.inTerminal(
      ['exec', 'cluster.yaml', '(echo up; exec sleep 4343)'],
      [{ after: 'up', type: '\u0003' }],
    );
    assert.equal(code, 130);
  });

  it('open a shell in it', async () => {
    const script = [{ after: '# ', type: 'ls /in-the-*; exit 5\n' }];
    const { code, seen } = await bed.inTerminal(['attach', 'cluster.yaml'], script);
    assert.equal(code, 5);
    assert.match(seen, /\/in-the-box\r\n/);
  });

  it('keep their output and exit code on the host when they run in a tmux', async () => {
    const { stdout, stderr } = await exec('--tmux', 'ls /in-the-box; exit 3');
    const log = await bed.manta(['sessions', 'cluster.yaml', '--log', stdout.trim(), '-f']);
    assert.deepEqual([log.code, log.stdout.trim()], [3, '/in-the-box'], stderr);
  });

  it('copy into it and out of it, also where it has a mount of its host', async () => {
    assert.equal((await bed.manta(['rsync-up', 'cluster.yaml', 'project/', '~/deep/copy/'])).code, 0);
    assert.equal((await exec('cat ~/deep/copy/a')).stdout, '1\n');
    assert.equal((await bed.manta(['rsync-up', 'cluster.yaml'])).code, 0);
    assert.equal((await exec('cat /opt/project/a')).stdout, '1\n');
    await exec('echo 2 > ~/deep/copy/b; echo 3 > /opt/project/c');
    assert.equal((await bed.manta(['rsync-down', 'cluster.yaml', '~/deep/copy/', 'out/'])).code, 0);
    assert.equal((await bed.manta(['rsync-down', 'cluster.yaml', '/opt/project/c', 'out/'])).code, 0);
    assert.equal(await bed.laptop.must('cat out/b out/c'), '2\n3\n');
  });

  it('run a script in it', async () => {
    // The image is too small to hold Python.
    const python = '#!/bin/sh\nls /in-the-box; cat "$1"; shift; printf "[%s]" "$@"\n';
    await bed.head.must('docker exec -i ray_box sh -c "cat > /usr/bin/python; chmod +x /usr/bin/python"', {
      input: python,
    });
    await bed.laptop.must(['tee', "script's.py"], { input: 'the script\n' });
    const { stdout, stderr } = await bed.manta(['submit', 'cluster.yaml', "script's.py", '--', 'a b', '$HOME']);
    assert.equal(stdout, '/in-the-box\nthe script\n[a b][$HOME]', stderr);
  });
});
