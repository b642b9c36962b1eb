import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { silent } from '../../src/base/events.ts';
import type { Io } from '../../src/cli/command.ts';
import { run } from '../../src/cli/commands/dev/plan.ts';

async function devPlan(lines: readonly string[], options = { asRay: false }) {
  let printed = '';
  const io: Io = {
    out: (text) => {
      printed += text;
    },
    events: silent,
    stdin: Readable.from([lines.join('\n')]),
    env: {},
    cwd: '.',
    terminal: false,
    columns: 80,
    color: false,
    json: false,
    signal: new AbortController().signal,
  };
  const exit = await run({ args: [], options, rest: [] }, io);
  const answers = printed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { exit, answers };
}

const type = (name: string, cpus: number) =>
  `"${name}":{"name":"${name}","min_worker_nodes":0,"max_worker_nodes":5,"resources":{"CPU":${cpus}}}`;
const tasks = (count: number) => `"resource_requests":[{"request":{"resources_bundle":{"CPU":1}},"count":"${count}"}]`;
const launched = (answer: Record<string, unknown> | undefined) =>
  Object.fromEntries(
    ((answer?.['to_launch'] ?? []) as { instance_type: string; count: number }[]).map((one) => [
      one.instance_type,
      one.count,
    ]),
  );

describe('manta dev plan', () => {
  it('answers a request, a recorded case and a case with its input alone', async () => {
    const request = `{"node_type_configs":{${type('w', 4)}},${tasks(8)}}`;
    const { exit, answers } = await devPlan([
      request,
      `{"fn":"x","in":{"args":[${request}],"kwargs":{}},"out":{}}`,
      `{"args":[${request}]}`,
    ]);
    assert.equal(exit, 0);
    assert.deepEqual(answers.map(launched), [{ w: 2 }, { w: 2 }, { w: 2 }]);
  });

  it('prints the fields of the reply of Ray', async () => {
    const { answers } = await devPlan([`{"node_type_configs":{${type('w', 4)}},${tasks(30)}}`]);
    assert.deepEqual(Object.keys(answers[0] ?? {}), [
      'cluster_resources',
      'infeasible_cluster_resource_constraints',
      'infeasible_gang_resource_requests',
      'infeasible_resource_requests',
      'to_ippr',
      'to_launch',
      'to_terminate',
    ]);
    assert.equal(((answers[0]?.['infeasible_resource_requests'] ?? []) as unknown[]).length, 10);
    assert.deepEqual(answers[0]?.['cluster_resources'], { CPU: 20 });
  });

  it('breaks ties by the order of node types even where their names are numbers', async () => {
    const { answers } = await devPlan([`{"node_type_configs":{${type('20', 4)},${type('3', 4)}},${tasks(4)}}`], {
      asRay: true,
    });
    assert.deepEqual(launched(answers[0]), { 20: 1 });
  });

  it('says where a line is wrong, goes on with the others and ends with 1', async () => {
    const good = `{"node_type_configs":{${type('w', 4)}},${tasks(1)}}`;
    const { exit, answers } = await devPlan([
      good,
      '{"node_type_configs": [',
      '{"node_type_configs":{"w":{"resources":{"CPU":"many"}}}}',
      '7',
      '',
      good,
    ]);
    assert.equal(exit, 1);
    assert.equal(answers.length, 5);
    const errors = answers.slice(1, 4).map((answer) => answer['error'] as Record<string, unknown>);
    assert.equal(errors[0]?.['line'], 2);
    assert.match(String(errors[0]?.['message']), /not JSON/);
    assert.equal(errors[1]?.['path'], 'node_type_configs.w.resources.CPU');
    assert.equal(errors[1]?.['message'], 'expected a number, got "many"');
    assert.equal(errors[2]?.['line'], 4);
    assert.deepEqual(launched(answers[4]), { w: 1 });
  });

  it('answers requests on which Ray itself stops', async () => {
    const gone = `{"disable_launch_config_check":true,"node_type_configs":{${type('w', 4)}},"current_instances":[{"im_instance":{"instance_id":"i","instance_type":"gone","status":"RAY_RUNNING","node_id":"r"},"ray_node":{"total_resources":{"CPU":4},"available_resources":{"CPU":4}}}],${tasks(6)}}`;
    const { exit, answers } = await devPlan([gone], { asRay: true });
    assert.equal(exit, 0);
    assert.deepEqual(launched(answers[0]), { w: 1 });
  });
});
