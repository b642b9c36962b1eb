// needs: ray, podman

import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { EventKind, EventSink } from '../../src/base/events.ts';
import { silent } from '../../src/base/events.ts';
import { ensureContainer, placeToken, removeContainer } from '../../src/bringup/container/container.ts';
import { hasOption, runCommand } from '../../src/bringup/container/container-text.ts';
import { pullFailure } from '../../src/bringup/container/engine-failure.ts';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { commandProgram } from '../../src/bringup/node/shell-text.ts';
import { checkRay } from '../../src/bringup/ray/check.ts';
import { endRay } from '../../src/bringup/ray/end.ts';
import { startProgram } from '../../src/bringup/ray/start.ts';
import { usualStaging } from '../../src/bringup/sync/staging.ts';
import type { ContainerSpec } from '../../src/core/spec/cluster.ts';
import { never } from '../contract/waiting.ts';
import { rayPython } from '../jobs/ray-python.ts';
import { localHost } from './local-host.ts';
import { dockerClient, podmanBed, podmanMissing, programs } from './podman-bed.ts';

const skip = podmanMissing() ?? false;
const signal = never;

const specOf = (image: string, more: Partial<ContainerSpec> = {}): ContainerSpec => ({
  engine: 'podman',
  image,
  name: 'ray_container',
  pullBeforeRun: true,
  runOptions: [...programs, '--net=none'],
  detectGpuRuntime: true,
  detectShmSize: true,
  ...more,
});

/** A cluster whose files are staged in a folder that is gone with the test. */
function orderOf(t: TestContext, container: ContainerSpec, mounts: NodeOrder['files']['mounts'] = []): NodeOrder {
  const cluster = `test-${process.pid}`;
  t.after(() => rmSync(usualStaging(cluster), { recursive: true, force: true }));
  return {
    cluster,
    instance: 'host-1',
    kind: 'worker',
    type: 'small',
    commands: { initialization: [], setup: [], start: [], container },
    files: { mounts, exclude: [], filter: [] },
    headAddress: '127.0.0.1',
    loginShells: true,
    usageStats: false,
    token: 'a-token-that-nobody-guesses-0123456789',
  };
}

function stage(order: NodeOrder, path: string, text: string): string {
  const file = join(usualStaging(order.cluster), path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return file;
}

for (const engine of ['podman', 'docker'] as const)
  test(`a container of ${engine} is what its user meant, and is kept as long as that is the same`, {
    skip,
  }, async (t) => {
    if (engine === 'docker' && !dockerClient())
      return t.skip("no docker client, which would speak to podman's service");
    const bed = await podmanBed(t, engine);
    mkdirSync(join(bed.home, 'data'));
    const spec = specOf(`${bed.registry}/tiny:1`, {
      engine,
      runOptions: [
        ...programs,
        '-v $HOME/data:/opt/data',
        '--env',
        'GREETING="hello there"',
        '--net=none',
        '--user ray',
        '--rm=0',
      ],
    });
    const mounts = [
      { remote: '/opt/conf/one.txt', local: '/x', directory: false },
      { remote: '~/folder', local: '/x', directory: true },
    ];
    const order = orderOf(t, spec, mounts);
    const one = stage(order, 'opt/conf/one.txt', 'first');
    stage(order, '~/folder/two.txt', 'two');
    chmodSync(one, 0o600);

    const lines: string[] = [];
    const events: EventSink = { emit: <D>(kind: EventKind<D>, data: D) => void lines.push(kind.text(data)) };
    const { place, made } = await ensureContainer(bed.host, order, spec, { signal, events });
    assert.equal(made, true);
    assert.ok(
      lines.some((line) => /Trying to pull|Copying|Writing|Pulling|Digest/.test(line)),
      'the pull is told as it goes',
    );
    const run = async (command: string): Promise<string> => {
      const { code, stdout, stderr } = await bed.host.sh(commandProgram(order, place, command, {}), { signal });
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    assert.equal(
      await run('id -un; echo ~; echo $GREETING $LANG'),
      'ray\n/root\nhello there C.UTF-8'.replace('/root', '/home/ray'),
    );
    assert.equal(await run('touch /opt/data/x 2>/dev/null; ls -d /opt/data'), '/opt/data');
    assert.equal(await run('cat /opt/conf/one.txt'), 'first', 'also where only its owner on the host may read it');

    await placeToken(bed.host, order, place, signal);
    const token = await run(`cd; stat -c %a .manta/nodes/*/token; cat .manta/nodes/*/token`);
    assert.equal(token, `600\n${order.token}`);

    await run('touch ~/set-up');
    stage(order, 'opt/conf/one.txt', 'second\n');
    assert.equal((await ensureContainer(bed.host, order, spec, { signal, events: silent })).made, false);
    assert.equal(
      await run('cat /opt/conf/one.txt; ls ~/set-up'),
      'second\n/home/ray/set-up',
      'a replaced file is seen',
    );

    bed.podman('stop', '-t', '0', 'ray_container');
    assert.equal((await ensureContainer(bed.host, order, spec, { signal, events: silent })).made, false);
    assert.equal(await run('ls ~/set-up'), '/home/ray/set-up', 'what is not removed on its end is started again');

    const changed = { ...spec, runOptions: [...spec.runOptions, '-e MORE=1'] };
    assert.equal((await ensureContainer(bed.host, order, changed, { signal, events: silent })).made, true);
    assert.equal(await run('echo $MORE; ls ~'), '1\nfolder');

    const foreign = { ...order, cluster: `${order.cluster}-b` };
    const alone = { ...foreign, files: { ...foreign.files, mounts: [] } };
    await assert.rejects(ensureContainer(bed.host, alone, spec, { signal, events: silent }), {
      code: 'MANTA_CONTAINER_NAME_TAKEN',
    });
    assert.equal(
      (await removeContainer(bed.host, { cluster: foreign.cluster, place }, { signal })).container,
      'foreign',
    );
    assert.equal((await removeContainer(bed.host, { cluster: order.cluster, place }, { signal })).container, 'removed');
    assert.equal(bed.podman('ps', '-aq'), '');
    assert.equal((await removeContainer(bed.host, { cluster: order.cluster, place }, { signal })).container, 'absent');

    rmSync(usualStaging(order.cluster), { recursive: true });
    await assert.rejects(ensureContainer(bed.host, order, spec, { signal, events: silent }), {
      code: 'MANTA_CONTAINER_MOUNTS_GONE',
    });
  });

test('what an engine refuses is told by its cause', { skip }, async (t) => {
  const bed = await podmanBed(t);
  const fails = async (spec: ContainerSpec, code: string, message: RegExp, host = bed.host): Promise<void> => {
    await assert.rejects(ensureContainer(host, orderOf(t, spec), spec, { signal, events: silent }), { code, message });
  };
  const image = `${bed.registry}/tiny:1`;
  await fails(specOf(`${bed.registry}/tiny:2`), 'MANTA_CONTAINER_IMAGE_NOT_FOUND', /tiny:2.*manifest unknown/);
  await fails(specOf('127.0.0.1:1/tiny:1'), 'MANTA_CONTAINER_REGISTRY_UNREACHABLE', /connection refused/);
  await fails(
    specOf(image, { runOptions: ['--no-such-option'] }),
    'MANTA_CONTAINER_RUN_REFUSED',
    /unknown flag: --no-such-option/,
  );
  await fails(specOf(image, { runOptions: ['--net=none'], pullBeforeRun: false }), 'MANTA_CONTAINER_ENDED', /bash/);
  const down = ensureContainer(bed.host, orderOf(t, specOf(image)), specOf(image, { engine: 'docker' }), {
    signal,
    events: silent,
  });
  await assert.rejects(down, { code: /MANTA_CONTAINER_ENGINE_(?:DOWN|MISSING)/ });

  const home = join(bed.home, 'bare');
  mkdirSync(join(home, 'bin'), { recursive: true });
  symlinkSync('/bin/cat', join(home, 'bin/cat'));
  writeFileSync(join(home, '.bashrc'), 'export PATH=$HOME/bin\n');
  await fails(specOf(image), 'MANTA_CONTAINER_ENGINE_MISSING', /podman is not installed/, localHost(home));
});

test('a user who has just joined the group of docker is told to connect anew', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-docker-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'bin'));
  const fake = (name: string, text: string): void => writeFileSync(join(home, 'bin', name), text, { mode: 0o755 });
  const socket = 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock';
  fake('docker', `#!/bin/sh\necho '${socket}' >&2; exit 1\n`);
  fake('id', '#!/bin/sh\necho someone\n');
  writeFileSync(join(home, '.bashrc'), 'export PATH=$HOME/bin:$PATH\n');
  const spec = specOf('image', { engine: 'docker' });
  const ensure = () => ensureContainer(localHost(home), orderOf(t, spec), spec, { signal, events: silent });
  fake('getent', '#!/bin/sh\necho docker:x:999:other\n');
  await assert.rejects(ensure(), { code: 'MANTA_CONTAINER_ENGINE_DENIED' });
  fake('getent', '#!/bin/sh\necho docker:x:999:other,someone\n');
  await assert.rejects(ensure(), { code: 'MANTA_CONTAINER_NEW_SESSION' });
});

test('a container is removed when the engine says so, and not when it no longer answers', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-docker-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, '.bashrc'), 'export PATH=$HOME/bin:$PATH\n');
  const place = { kind: 'container', engine: 'podman', name: 'ray' } as const;
  const remove = (afterwards: string) => {
    rmSync(join(home, 'removed'), { force: true });
    const text = `#!/bin/sh
case "$1 $2" in
'rm -f') touch ~/removed ;;
'container inspect') [ ! -f ~/removed ] || { ${afterwards}; }; echo 'false <no value>' ;;
esac
`;
    writeFileSync(join(home, 'bin/podman'), text, { mode: 0o755 });
    return removeContainer(localHost(home), { cluster: 'lab', place }, { signal });
  };
  const gone = await remove('echo "Error: no such container ray" >&2; exit 125');
  assert.deepEqual([gone.container, gone.detail], ['removed', undefined]);
  const silence = 'Cannot connect to Podman: connection refused';
  const unknown = await remove(`echo "${silence}" >&2; exit 125`);
  assert.deepEqual([unknown.container, unknown.detail], ['left', silence]);
  const there = await remove('true');
  assert.deepEqual([there.container, there.detail], ['left', undefined]);
});

test('Ray runs in a container, is checked there, and goes with it', { skip }, async (t) => {
  const ray = rayPython();
  if ('missing' in ray) return t.skip(ray.missing);
  const bed = await podmanBed(t);
  const venv = dirname(dirname(ray.python));
  const python = dirname(
    dirname(readFileSync(join(venv, 'pyvenv.cfg'), 'utf8').match(/^home = (.*)$/m)?.[1] ?? '') + '/x',
  );
  const spec = specOf(`${bed.registry}/tiny:1`, {
    runOptions: [
      ...programs,
      `-v ${venv}:${venv}:ro`,
      `-v ${dirname(python)}:${dirname(python)}:ro`,
      '--net=none',
      '-e',
      `PATH=${venv}/bin:/usr/bin`,
    ],
  });
  const order: NodeOrder = { ...orderOf(t, spec), kind: 'head', loginShells: false };
  const { place } = await ensureContainer(bed.host, order, spec, { signal, events: silent });
  await placeToken(bed.host, order, place, signal);
  const command = 'ray stop; ray start --head --node-ip-address=127.0.0.1 --num-cpus=1 --dashboard-host=0.0.0.0';
  const { code, stdout, stderr } = await bed.host.sh(startProgram(order, place, command), { signal });
  assert.equal(code, 0, stdout + stderr);
  assert.equal((await checkRay(bed.host, order, place, { signal, events: silent })).dashboardPort, 8265);
  const { ended, container } = await removeContainer(bed.host, { cluster: order.cluster, place }, { signal });
  assert.equal(container, 'removed');
  const where = { cluster: order.cluster, place };
  assert.deepEqual(await endRay(bed.host, where, { signal }), { ended: [], left: [] }, 'nothing runs in what is gone');
  const elsewhere = { ...where, place: { ...place, engine: 'docker' as const } };
  await assert.rejects(endRay(bed.host, elsewhere, { signal }), { code: 'MANTA_RAY_NOT_ENDED' });
  assert.ok(ended.some(({ name }) => name === 'raylet'));
});

test('what Manta adds to an engine run gives way to what the user says', () => {
  const order = {
    cluster: 'lab',
    instance: 'i',
    files: { mounts: [], exclude: [], filter: [] },
  } as unknown as NodeOrder;
  const run = (...runOptions: string[]): string =>
    runCommand(order, specOf('image', { engine: 'docker', runOptions }), {
      home: '/root',
      availableMemory: 10e9,
      gpuOptions: '--runtime=nvidia',
    });
  assert.match(
    run('-v a:b'),
    /^docker run --rm .* -v a:b --shm-size=3300000000b --runtime=nvidia --net=host image bash$/,
  );
  assert.doesNotMatch(run('--restart=unless-stopped'), /--rm/);
  assert.equal(run('--rm=0').match(/--rm/g)?.length, 1);
  assert.doesNotMatch(run('--ipc', 'host'), /--shm-size/);
  assert.doesNotMatch(run('--network bridge -p 1:1'), /--net=host/);
  assert.doesNotMatch(run('--gpus all'), /--runtime/);
  assert.ok(hasOption(['-e A=--net', '--network=x'], '--network'));
  assert.ok(!hasOption(['--net-alias x'], '--net'));
});

test('the words of engines are understood', () => {
  const at = { node: 'h1', engine: 'docker', image: 'x/y:1' };
  const code = (text: string): string => pullFailure(at, text).code.replace('MANTA_CONTAINER_', '');
  const daemon = 'Error response from daemon: ';
  assert.equal(code(`${daemon}manifest for x/y:1 not found: manifest unknown: manifest unknown`), 'IMAGE_NOT_FOUND');
  assert.equal(
    code(
      `${daemon}pull access denied for x/y, repository does not exist or may require 'docker login': denied: requested access to the resource is denied`,
    ),
    'IMAGE_NOT_FOUND',
  );
  assert.equal(code(`${daemon}Head "https://r/v2/x/y/manifests/1": no basic auth credentials`), 'LOGIN_REFUSED');
  assert.equal(
    code('Error: initializing source docker://r/x: reading manifest 1 in r/x: unauthorized: authentication required'),
    'LOGIN_REFUSED',
  );
  assert.equal(code('failed to register layer: write /usr/lib/x: no space left on device'), 'NO_SPACE');
  assert.equal(code(`${daemon}Get "https://r/v2/": dial tcp: lookup r: no such host`), 'REGISTRY_UNREACHABLE');
  assert.equal(
    code('permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock'),
    'ENGINE_DENIED',
  );
  assert.equal(
    code('Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'),
    'ENGINE_DOWN',
  );
  assert.equal(code('Error: something else'), 'PULL_FAILED');
});
