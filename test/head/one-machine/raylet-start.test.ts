import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type RayletOrder, rayletEnvironment } from '../../../src/head/one-machine/raylet-start.ts';

const orderOf = (kind: 'head' | 'worker'): RayletOrder => {
  const record = { id: `i-${kind}`, kind, type: kind, devices: [], labels: {}, resources: { CPU: 1 } };
  return { record, python: '/venv/bin/python', tokenFile: '/token', env: {} } as unknown as RayletOrder;
};

it('a job that the Ray of this machine has may wait for room for years', () => {
  const seconds = Number(rayletEnvironment(orderOf('head'))['RAY_JOB_START_TIMEOUT_SECONDS']);
  assert.ok(seconds > 365 * 86_400, `${seconds}`);
});

it('what is of the head only is not set for workers', () => {
  const worker = rayletEnvironment(orderOf('worker'));
  assert.equal(worker['RAY_JOB_START_TIMEOUT_SECONDS'], undefined);
  assert.equal(worker['RAY_CLOUD_INSTANCE_ID'], 'i-worker');
});

it('a job on any node has as long to end as Manta gives it', () => {
  for (const kind of ['head', 'worker'] as const)
    assert.equal(rayletEnvironment(orderOf(kind))['RAY_JOB_STOP_WAIT_TIME_S'], '60');
});
