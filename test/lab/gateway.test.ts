// needs: ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { tokenFile } from '../../src/bringup/node/shell-text.ts';
import { until } from '../contract/waiting.ts';
import { FaultBed } from './fault-bed.ts';

describe('the way to a cluster of real Ray', { skip: labProblem() ?? false }, () => {
  let bed: FaultBed;
  let head: LabHost;

  before(async () => {
    bed = await FaultBed.open({ hosts: [{}], ray: true });
    head = bed.hosts[0] as LabHost;
    await bed.must('up', '-y', bed.cluster({ name: 'team', head }));
  });
  after(() => bed?.close());

  it('mantad has the port of Ray’s users, and Ray’s dashboard another, both on loopback', async () => {
    const listening = await head.must("ss -Hltn | awk '{print $4}'");
    for (const port of [8264, 8265]) assert.match(listening, new RegExp(`^127\\.0\\.0\\.1:${port}$`, 'm'));
    assert.doesNotMatch(listening, /^(?:0\.0\.0\.0|\*|\[::\]):826[45]$/m);
    const mode = await head.must("stat -c '%a %F' ~/.manta/head/clusters/team/mantad.sock");
    assert.equal(mode.trim(), '600 socket');
  });

  it('commands come in by mantad’s socket, and by its port where the SSH server lets no socket through', async () => {
    const follow = async (connections: string, others: string): Promise<void> => {
      await head.must('rm -f /tmp/go; mkfifo /tmp/go');
      const job = bed.start(['job', 'submit', '-n', 'team', '--', 'echo by-$((40 + 2)); read x < /tmp/go']);
      await job.said(/by-42/);
      assert.notEqual(await head.must(connections), '0\n');
      assert.equal(await head.must(others), '0\n');
      await head.must('echo > /tmp/go');
      assert.equal((await job.ended).code, 0, job.shown());
    };
    const bySocket = "ss -Hx state connected | grep -c 'mantad[.]sock' || true";
    const byPort = "ss -Htn state established '( sport = :8265 )' | grep -c . || true";
    await follow(bySocket, byPort);
    await head.must(
      "printf 'AllowStreamLocalForwarding no\\n' >> /etc/ssh/sshd_config; kill -HUP $(cat /run/sshd.pid)",
    );
    // What is kept open was let through before.
    await bed.laptop.exec('for p in $(pgrep -x ssh); do kill "$p"; done');
    assert.match(await bed.must('status', 'team'), /Node status/);
    // What must not be sent twice goes by the port from the first time on.
    assert.match(await bed.must('user', 'add', 'ada', '-n', 'team'), /ada/);
    await follow(byPort, bySocket);
  });

  it('on the head the real `ray job` works with the address that Ray has always had', async () => {
    const owner = (await head.must('cat ~/.manta/head/clusters/team/tokens/owner')).trim();
    const said = await head.must([
      'bash',
      '-lc',
      `RAY_AUTH_MODE=token RAY_AUTH_TOKEN=${owner} ray job submit --address http://localhost:8265 -- sh -c 'echo at-$((40 + 2))' 2>&1`,
    ]);
    assert.match(said, /at-42/);
    assert.match(await bed.must('job', 'list', '-n', 'team'), /at-/);
    const secret = (await head.must(`cat ~/${tokenFile('team')}`)).trim();
    await head.must([
      'bash',
      '-lc',
      `RAY_AUTH_MODE=token RAY_AUTH_TOKEN=${secret} ray job submit --no-wait --address http://localhost:8264 -- echo past-the-queue 2>&1`,
    ]);
    // While Ray is slow to tell its jobs, the list has those of the queue alone.
    await until('the list has the one that went past the queue', async () =>
      /\(Ray\).*past-the-queue|past-the-queue.*\(Ray\)/.test(await bed.must('job', 'list', '-n', 'team')),
    );
  });

  it('the real `serve` deploys, tells, and shuts down through the gateway for administrators, and for nobody else', async () => {
    const owner = (await head.must('cat ~/.manta/head/clusters/team/tokens/owner')).trim();
    const { token: eve } = JSON.parse(await bed.must('--json', 'user', 'add', 'eve', '-n', 'team')) as {
      token: string;
    };
    await head.must('mkdir -p app && cd app && cat > hello.py && python3 -m zipfile -c ~/app.zip hello.py', {
      input: 'from ray import serve\n@serve.deployment\ndef hello(request):\n    return "served"\napp = hello.bind()\n',
    });
    await head.must('cat > serve.yaml', {
      input: `
http_options: {host: 127.0.0.1, port: 8000}
applications:
  - name: hello
    import_path: hello:app
    route_prefix: /hello
    runtime_env: {working_dir: "file:///root/app.zip"}
    deployments: [{name: hello, ray_actor_options: {num_cpus: 0.1}}]
`,
    });
    const serve = (token: string, words: string) =>
      head.exec([
        'bash',
        '-lc',
        `RAY_AUTH_MODE=token RAY_AUTH_TOKEN=${token} serve ${words} --address http://localhost:8265 2>&1`,
      ]);
    const refused = await serve(eve, 'deploy serve.yaml');
    assert.notEqual(refused.code, 0, refused.stdout);
    assert.match(refused.stdout, /only an administrator of the cluster/);
    const deployed = await serve(owner, 'deploy serve.yaml');
    assert.match(deployed.stdout, /Sent deploy request successfully/);
    await until('it is served', async () => (await head.exec('curl -s localhost:8000/hello')).stdout === 'served', {
      wrong: 'for now',
    });
    assert.match((await serve(owner, 'status')).stdout, /hello:[\s\S]*status: RUNNING/);
    assert.match((await serve(owner, 'config')).stdout, /import_path: hello:app/);
    const down = await serve(owner, 'shutdown -y');
    assert.equal(down.code, 0, down.stdout);
    await until('nothing is served', async () => (await head.exec('curl -s localhost:8000/hello')).code !== 0);
  });
});
