// needs: hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labProblem } from '../../lab/lab.ts';
import { type Bed, openBed } from './exec-bed.ts';

describe('nodes of a cluster, by their names', { skip: labProblem() ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed();
    const { head, worker, laptop } = bed;
    const text = await laptop.must(['cat', 'cluster.yaml']);
    const config = { path: '/root/cluster.yaml', text, env: {} };
    const record = {
      format: 1,
      name: 'c1',
      machine: 'h0',
      createdAt: 0,
      engine: 'ray',
      config,
      remote: { address: head.address },
    };
    await laptop.must('umask 077; mkdir -p .manta/clusters/c1; tee .manta/clusters/c1/cluster.json', {
      input: JSON.stringify(record),
    });
    const there = '.manta/head/clusters/c1';
    await head.must(`mkdir -p ${there}/instances/claims ${there}/hosts; echo '{}' > ${there}/cluster.json`);
    const claim = {
      format: 1,
      id: 'i0123456789ab',
      kind: 'worker',
      state: 'held',
      host: { name: worker.address, address: worker.address },
    };
    await head.must(['tee', `${there}/instances/claims/i0123456789ab.json`], { input: JSON.stringify(claim) });
  });
  after(() => bed?.close());

  it('are told by their addresses, alone on their lines', async () => {
    for (const words of [['get-head-ip'], ['get_head_ip', 'cluster.yaml'], ['get-head-ip', 'c1']])
      assert.equal((await bed.manta(words)).stdout, `${bed.head.address}\n`);
    assert.equal((await bed.manta(['get-worker-ips', 'cluster.yaml'])).stdout, `${bed.worker.address}\n`);
    const { code, stdout } = await bed.manta(['get-head-ip', 'cluster.yaml', '-n', 'other']);
    assert.deepEqual([code, stdout], [4, '']);
  });

  it('are reached by address, by the word head, and by the id of their instance', async () => {
    const at = async (word: string): Promise<string> => (await bed.manta(['ssh', word, '--', 'hostname'])).stdout;
    assert.equal(await at('head'), 'h1\n');
    assert.equal(await at(bed.head.address), 'h1\n');
    assert.equal(await at(bed.worker.address), 'h2\n');
    assert.equal(await at('i01234567'), 'h2\n');
    const { code, stderr } = await bed.manta(['ssh', 'nobody', '--', 'hostname']);
    assert.equal(code, 2);
    assert.match(stderr, /the cluster 'c1' has no node 'nobody'/);
  });

  it('pass on what runs there, each word as it was typed', async () => {
    const { code, stdout } = await bed.manta([
      'ssh',
      'head',
      '--',
      'sh',
      '-c',
      'printf "%s|" "$@"; exit 9',
      'sh',
      'a b',
      '$HOME',
    ]);
    assert.deepEqual([code, stdout], [9, 'a b|$HOME|']);
  });

  it("tell what their steps said, and what is in Ray's logs", async () => {
    const step = '.manta/nodes/c1/steps/setup-0';
    await bed.worker.must(
      `mkdir -p ${step}; echo mark7 > ${step}/mark; printf 'one\\ntwo\\nmark7 3\\n' > ${step}/output; echo 3 > ${step}/rc`,
    );
    await bed.worker.must(
      'mkdir -p /tmp/ray/session_9/logs; echo raylet says > /tmp/ray/session_9/logs/raylet.out; echo session_9 gcs /tmp/ray > .manta/nodes/c1/session',
    );
    const { stdout } = await bed.manta(['logs', bed.worker.address, '--lines', '1']);
    assert.match(stdout, /^== setup-0 \(exit code 3\)\ntwo\n== logs of Ray in .*\nraylet\.out\n$/);
    assert.equal((await bed.manta(['logs', bed.worker.address, '--file', 'ray*.out'])).stdout, 'raylet says\n');
    const { code, stderr } = await bed.manta(['logs', bed.worker.address, '--file', '$(touch no)']);
    assert.equal(code, 1);
    assert.match(stderr, /Ray has no log/);
  });

  it('whose key has changed are let in again only when that is confirmed, here and on the head', async () => {
    assert.match((await bed.manta(['host-key', 'accept', bed.worker.address])).stdout, /still has the pinned key/);
    await bed.worker.changeHostKey();
    await bed.laptop.must(
      'for s in .manta/clusters/c1/*; do if [ -S "$s" ]; then ssh -O exit -o ControlPath="$s" x; fi; done; true',
    );
    const refused = await bed.manta(['ssh', bed.worker.address, '--', 'hostname']);
    assert.match(refused.stderr, /MANTA_SSH_HOST_KEY_CHANGED/);
    const unasked = await bed.manta(['host-key', 'accept', bed.worker.address]);
    assert.deepEqual([unasked.code, /add --yes/.test(unasked.stderr)], [2, true]);
    const { code, stdout, stderr } = await bed.manta(['host-key', 'accept', bed.worker.address, '--yes']);
    assert.equal(code, 0, stderr);
    const [, fingerprint] = /Accepted the new key of \S+: \S+ (SHA256:\S+)/.exec(stdout) ?? [];
    const shown = await bed.worker.must('ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub');
    assert.ok(shown.includes(fingerprint!), stdout);
    assert.equal((await bed.manta(['ssh', bed.worker.address, '--', 'hostname'])).stdout, 'h2\n');
    const pins = await bed.head.must('cat .manta/head/clusters/c1/hosts/*.pin');
    const own = `.manta/clusters/c1/hosts/${bed.worker.address}.pin`;
    assert.equal(pins, await bed.laptop.must(`cat ${own}`));

    // A laptop that has met the worker only since knows no other key; the head does.
    await bed.worker.changeHostKey();
    await bed.laptop.must(
      `rm ${own}; for s in .manta/clusters/c1/*; do if [ -S "$s" ]; then ssh -O exit -o ControlPath="$s" x; fi; done; true`,
    );
    assert.equal((await bed.manta(['ssh', bed.worker.address, '--', 'hostname'])).stdout, 'h2\n');
    const again = await bed.manta(['host-key', 'accept', bed.worker.address]);
    assert.deepEqual([again.code, /changed from .*SHA256:.* to SHA256:/.test(again.stderr)], [2, true], again.stderr);
    const both = await bed.manta(['host-key', 'accept', bed.worker.address, '--yes']);
    assert.equal(both.code, 0, both.stderr);
    assert.equal(await bed.head.must('cat .manta/head/clusters/c1/hosts/*.pin'), await bed.laptop.must(`cat ${own}`));
    assert.match((await bed.manta(['host-key', 'accept', bed.worker.address])).stdout, /still has the pinned key/);
  });
});
