// needs: hosts, podman

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Registry } from '../../lab/images/registry.ts';
import { type Lab, type LabHost, labProblem, openLab } from '../../lab/lab.ts';

describe('containers on a host', { skip: labProblem('podman') ?? false }, () => {
  let lab: Lab;
  let h1: LabHost;
  let registry: Registry;
  before(async () => {
    lab = await openLab({ hosts: [{ podman: true }, {}] });
    h1 = lab.hosts[0]!;
    registry = lab.registry!;
  });
  after(() => lab?.close());

  it('run from an image of the registry that holds Ray', async () => {
    const started = performance.now();
    await h1.must(`podman pull -q ${registry.images.ray}`);
    process.stderr.write(`      the image with Ray pulled in ${Math.round(performance.now() - started)} ms\n`);
    const run = `podman run --rm --network host ${registry.images.ray}`;
    assert.match(await h1.must(`${run} ray --version`), /ray, version 2\./);
    assert.match(await h1.must(`${run} bash -lc 'ray --version; command -v rsync ssh ps'`), /ray, version 2\./);
    assert.equal(await h1.must(`${run} hostname`), 'h1\n');
  });

  it('run a Ray node, as the user that Ray has in its own images', async () => {
    const run = `podman run --rm --network host --shm-size 200m ${registry.images.rayUser}`;
    const ray = 'ray start --head --num-cpus 1 --memory 500000000 --object-store-memory 80000000 --disable-usage-stats';
    const python = 'import ray; ray.init(address="auto", logging_level="error"); print(len(ray.nodes()), "node")';
    const said = await h1.must(
      `${run} bash -lc 'id -un; sudo id -un; ${ray} >/dev/null; python -c '\\''${python}'\\'''`,
      {
        env: { RAY_AUTH_MODE: 'disabled' },
      },
    );
    assert.match(said, /^ray\nroot\n[^]*1 node\n$/);
  });

  it('are those of their host: seen from outside, and gone with its power', async () => {
    await h1.must(`docker run -d --name box --network host ${registry.images.base} sleep 5432`);
    const inBox = (): boolean => h1.processes().some(({ command }) => command[1] === '5432');
    assert.ok(inBox());
    assert.equal(await h1.must("docker inspect -f '{{.State.Running}}' box"), 'true\n');
    await h1.reboot();
    assert.equal(inBox(), false);
    assert.equal(await h1.must("docker inspect -f '{{.State.Running}}' box"), 'false\n');
    await h1.must('docker start box');
    assert.ok(inBox());
    await h1.must('docker rm -f -t 0 box');
  });

  it('have a network of their own where they are not given that of the host', async () => {
    // The new kind of cgroup has no controllers to give to a host, and so no limits.
    const limits = existsSync('/sys/fs/cgroup/memory') ? '--memory 64m --cpus 0.5' : '';
    const addresses = await h1.must(`podman run --rm ${limits} ${registry.images.base} ip -br address`);
    assert.match(addresses, /^eth0\S* .* 10\.88\./m);
    assert.doesNotMatch(addresses, new RegExp(h1.address));
  });

  it('are not run from an image that is not there or not allowed', async () => {
    const absent = await h1.exec(`podman pull ${registry.images.base}-none`);
    assert.match(absent.stderr, /manifest unknown/);
    const { locked } = registry;
    assert.match((await h1.exec(`podman pull ${locked.images.base}`)).stderr, /unauthorized/);
    const refused = await h1.exec(`podman login -u ${locked.user} -p wrong ${locked.address}`);
    assert.match(refused.stderr, /invalid username\/password/);
    await h1.must(`podman login -u ${locked.user} -p ${locked.password} ${locked.address}`);
    await h1.must(`podman pull -q ${locked.images.base}`);
  });

  it('are there only where an engine was asked for', async () => {
    assert.equal((await lab.hosts[1]!.exec('podman ps')).code, 127);
    assert.equal((await lab.hosts[1]!.exec('docker ps')).code, 127);
  });
});
