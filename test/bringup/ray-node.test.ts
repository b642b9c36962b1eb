// needs: ray, hosts

import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { EventKind, EventSink } from '../../src/base/events.ts';
import { silent } from '../../src/base/events.ts';
import type { Host } from '../../src/base/host.ts';
import { placeToken } from '../../src/bringup/container/container.ts';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { checkRay } from '../../src/bringup/ray/check.ts';
import { endRay } from '../../src/bringup/ray/end.ts';
import { startProgram } from '../../src/bringup/ray/start.ts';
import { never, until } from '../contract/waiting.ts';
import { rayPython } from '../jobs/ray-python.ts';
import { namespaceHost, namespacesMissing } from './namespace-host.ts';

const ray = rayPython();
const skip = namespacesMissing() ?? ('missing' in ray ? ray.missing : false);
const here = { kind: 'host' } as const;
const signal = never;

const orderOf = (cluster: string, start: readonly string[], more: Partial<NodeOrder> = {}): NodeOrder => ({
  cluster,
  instance: 'host-1',
  kind: 'head',
  type: 'head',
  commands: { initialization: [], setup: [], start },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '127.0.0.1',
  loginShells: true,
  usageStats: false,
  token: 'a-token-that-nobody-guesses-0123456789',
  ...more,
});

const hostWithRay = (t: TestContext): Promise<Host> => namespaceHost(t, 'missing' in ray ? '' : dirname(ray.python));

async function start(host: Host, order: NodeOrder): Promise<void> {
  await placeToken(host, order, here, signal);
  for (const command of order.commands.start) {
    const { code, stdout, stderr } = await host.sh(startProgram(order, here, command), { signal });
    assert.equal(code, 0, stdout + stderr);
  }
}

/** Numbers of the processes whose words match. */
async function processes(host: Host, pattern: string): Promise<string[]> {
  const { stdout } = await host.sh(`pgrep -f '${pattern}' | grep -vx $$`, { signal });
  return stdout.split('\n').filter(Boolean);
}

const rayProcesses = 'raylet|gcs_server|[r]ay::|ray-dashboard|ray/dashboard|log_monitor|ray.util.client|monitor.py';
const oneAddress = '--node-ip-address=127.0.0.1 --num-cpus=1 --include-log-monitor=true';

test('a head is checked, another cluster on its host survives its end, and nothing of it is left', {
  skip,
}, async (t) => {
  const host = await hostWithRay(t);
  const first = orderOf('first', ['ray stop', `ulimit -c 0; ray start --head --dashboard-host=0.0.0.0 ${oneAddress}`]);
  await start(host, first);
  const running = await checkRay(host, first, here, { signal, events: silent });
  assert.match(running.session, /^session_\d/);
  assert.equal(running.dashboardPort, 8265);
  assert.deepEqual(await processes(host, 'autoscaler/.*monitor.py'), []);

  const ports =
    '--port=6390 --ray-client-server-port=10011 --dashboard-agent-listen-port=52375 --min-worker-port=20000 --max-worker-port=20100';
  const second = orderOf('second', ['ray stop', `ray start --head --temp-dir=/tmp/second ${ports} ${oneAddress}`], {
    dashboardPort: 8270,
  });
  await start(host, second);
  assert.equal((await checkRay(host, second, here, { signal, events: silent })).dashboardPort, 8270);
  assert.equal((await processes(host, '[g]cs_server_port')).length, 2, 'the second ray stop has left the first alone');

  // Work that outlives its worker's own clean-up: in a session of its own, with an environment of its own.
  const work = `import ray, subprocess, time
ray.init(address='127.0.0.1:6379')
@ray.remote
def f(): return subprocess.Popen(['setsid', 'env', '-i', 'sleep', '7777']).pid
ray.get(f.remote())
time.sleep(1000)`;
  await host.sh(
    `. .manta/nodes/first/env.sh; cat >work.py <<'END'\n${work}\nEND\npython work.py >work.log 2>&1 &
sleep 8888 >/dev/null 2>&1 &
for i in $(seq 300); do pgrep -f 'sleep 7777' >/dev/null && break; sleep 0.1; done`,
    { signal },
  );
  assert.equal((await processes(host, '[s]leep 7777')).length, 1);

  const drivers = (await processes(host, '[w]ork.py')).map((line) => Number(line.trim().split(/\s+/)[0]));
  assert.equal(drivers.length, 1);
  const { ended, left } = await endRay(host, { cluster: 'first', instance: 'host-1' }, { signal });
  assert.deepEqual(left, []);
  assert.ok(ended.some((process) => process.name === 'raylet'));
  assert.deepEqual(await processes(host, '[s]leep 7777'), []);
  const sessions = (
    await host.sh('cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -o "session_[0-9][0-9_-]*" | sort -u', { signal })
  ).stdout;
  assert.doesNotMatch(sessions, new RegExp(running.session));
  assert.equal((await processes(host, '[g]cs_server_port')).length, 1);
  // The driver may follow its raylet, which is Ray's own doing.
  assert.equal((await processes(host, '[s]leep 8888')).length, 1, "a user's own session is not Ray");
  assert.ok(!ended.some(({ pid }) => drivers.includes(pid)), "nor is a user's driver");
  assert.equal((await host.sh('ls /tmp/ray/ray_current_cluster', { signal })).code, 2);

  await endRay(host, { cluster: 'second' }, { signal });
  await until('nothing of it is left', async () => (await processes(host, rayProcesses)).length === 0);
  assert.deepEqual(await endRay(host, { cluster: 'second' }, { signal }), { ended: [], left: [] });
  await assert.rejects(checkRay(host, second, here, { signal, events: silent }), { code: 'MANTA_RAY_NOT_RUNNING' });
});

test('Ray that was started past its environment is found, ended and its command named', { skip }, async (t) => {
  const host = await hostWithRay(t);
  const command = `env -i HOME=$HOME PATH=$PATH ray start --head ${oneAddress}`;
  const order = orderOf('lab', ['ray stop', command]);
  await start(host, order);
  await assert.rejects(checkRay(host, order, here, { signal, events: silent }), (error: Error & { code: string }) => {
    assert.equal(error.code, 'MANTA_RAY_OPEN');
    assert.ok(error.message.includes(command), error.message);
    return true;
  });
  await until('nothing of it is left', async () => (await processes(host, rayProcesses)).length === 0);
});

test('a monitor of Ray is ended with a warning, and a dashboard that others reach ends Ray', { skip }, async (t) => {
  const host = await hostWithRay(t);
  const told: string[] = [];
  const events: EventSink = { emit: <D>(kind: EventKind<D>, data: D) => void told.push(kind.text(data)) };
  const order = orderOf('lab', [`$(type -P ray) start --head --dashboard-host=0.0.0.0 ${oneAddress}`]);
  await start(host, order);
  assert.equal((await processes(host, 'autoscaler/.*[m]onitor.py')).length, 1);
  await assert.rejects(checkRay(host, order, here, { signal, events }), {
    code: 'MANTA_RAY_REACHABLE',
    message: /listened on 0\.0\.0\.0:8265/,
  });
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /killed Ray's own autoscaler monitor/);
  await until('nothing of it is left', async () => (await processes(host, rayProcesses)).length === 0);
});
