import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { RayEngine } from '../../../src/engines/ray/engine.ts';
import { RayHttp } from '../../../src/engines/ray/jobs/http.ts';
import { never, until } from '../../contract/waiting.ts';
import { type Driver, dashboard, env, openEngine, python, rayProgram, token } from './ray-cluster.ts';

const request = { resources: { unobtainium: 1 }, selectors: [], placement: [] };
const report = {
  launching: [{ type: 'gpu', count: 3 }],
  pending: [{ instance: 'i-7', type: 'cpu', details: 'SETTING UP' }],
  failedLaunches: [{ type: 'spot', at: Date.now(), reason: 'no capacity' }],
  infeasible: [{ kind: 'tasks', request, count: 1, types: [] }],
} as const;

/** What Ray's own commands and pages show of Manta's work. */
export function statusCases(current: () => RayEngine, load: () => Promise<Driver>): void {
  const status = (): Promise<string> =>
    until(
      '`ray status` answers',
      async () => (await promisify(execFile)(rayProgram, ['status', '-v'], { env })).stdout,
    );

  describe('what ray shows of manta', () => {
    it('counts nodes that were asked for together one by one in `ray status`, where Ray itself shows one', async () => {
      await current().report(report, never);
      const text = await status();
      assert.match(text, /gpu, 3 launching/);
      assert.match(text, /i-7: cpu, setting up/);
      assert.match(text, /spot: LaunchFailed.* - no capacity/);
      await current().report({ ...report, launching: [], failedLaunches: [] }, never);
      assert.doesNotMatch(await status(), /launching|LaunchFailed/, 'what is over is not shown for ever');
    });

    it('is heard at once after a restart, also with a clock that is behind, and asks for no state to come', async () => {
      const clock = { ...wallClock, now: () => 1_000 };
      const other = await openEngine({ clock });
      await other.report({ ...report, pending: [{ instance: 'i-8', type: 'cpu', details: 'setting up' }] }, never);
      // A GCS that is asked for a version beyond its own is gone after that.
      for (let look = 0; look < 3; look++) assert.ok((await other.state(never)).nodes.length > 0);
      await other.close();
      assert.match(await status(), /i-8: cpu/);
    });

    it('tells how far the cluster may grow', async () => {
      const type = { labels: {}, priority: 0, launchHash: '', hostsPerSlice: 1, offers: [] };
      const spec = {
        maxWorkers: 3,
        upscalingSpeed: 1,
        headType: 'head',
        replaceOutdated: false,
        nodeTypes: [
          { ...type, name: 'head', resources: { CPU: 2 }, minWorkers: 0, maxWorkers: 0 },
          { ...type, name: 'cpu', resources: { CPU: 4 }, minWorkers: 1, maxWorkers: 10 },
        ],
      };
      await current().reportConfig(spec, never);
      const code =
        'import ray; from ray._raylet import GcsClient; from ray.core.generated import autoscaler_pb2 as a;' +
        'c = a.ClusterConfig(); c.ParseFromString(GcsClient("127.0.0.1:6379").internal_kv_get(' +
        'b"__autoscaler_cluster_config", b"__autoscaler"));' +
        'print(dict(c.min_resources), dict(c.max_resources), [(g.name, g.min_count, g.max_count) for g in c.node_group_configs])';
      const { stdout } = await promisify(execFile)(python, ['-c', code], { env });
      assert.equal(stdout.trim(), "{'CPU': 6} {'CPU': 14} [('head', 1, 1), ('cpu', 1, 3)]");
    });

    it('leads Prometheus to the metrics of the autoscaler', async () => {
      await current().announceMetrics('127.0.0.1:44217', never);
      const http = new RayHttp(token);
      await until('it is found', async () => {
        const found = await http.json(dashboard, { path: '/api/prometheus/sd' }, never).catch(() => undefined);
        return JSON.stringify(found ?? '').includes('127.0.0.1:44217');
      });
      http.close();
    });

    it('prints its words in the output of drivers', async () => {
      const driver = spawn(python, ['-u', '-c', 'import ray, time; ray.init(); print("up"); time.sleep(600)'], { env });
      let said = '';
      for (const stream of [driver.stdout, driver.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes));
      try {
        await until('it is up', () => said.includes('up'));
        // The log monitor finds a new file within seconds, and reads it from there on.
        await until('it is told', async () => {
          const text = 'Adding 1 node(s) of type gpu.';
          assert.ok(await current().tellDrivers([{ level: 'info', text, at: Date.now() }], never));
          await new Promise((resolve) => setTimeout(resolve, 500));
          return /\(autoscaler \+[^)]+\)\S* Adding 1 node\(s\) of type gpu\./.test(said);
        });
      } finally {
        driver.kill('SIGKILL');
      }
    });

    it('is told at once when something waits', async () => {
      const driver = await load();
      let changes = 0;
      const leave = current().watchState(() => changes++);
      const undo = await driver.make({ op: 'submit', resources: { unobtainium: 2 }, count: 1 });
      await until(
        'the demand is seen',
        async () => changes > 0 && (await current().state(never)).demand.tasks.length > 0,
      );
      await undo();
      await until('it is gone', async () => (await current().state(never)).demand.tasks.length === 0);
      leave();
    });
  });
}
