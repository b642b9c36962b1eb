import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyForm, readForm } from '../../src/web/state/submit.ts';

test('a form with a command alone asks for one CPU', () => {
  assert.deepEqual(readForm({ ...emptyForm, entrypoint: ' echo hi ' }), {
    problems: {},
    body: { entrypoint: 'echo hi', resources: { CPU: 1 } },
  });
});

test('every field reaches the request in its unit', () => {
  const { body } = readForm({
    entrypoint: 'python train.py',
    id: 'run-1',
    cpu: '4',
    gpu: '1',
    memory: '1.5',
    custom: 'slots=2\n\n',
    env: 'A=1\nB=x=y',
    workingDir: 'https://example.org/code.zip',
    pip: 'numpy\n torch==2.9 ',
    priority: '-3',
    retries: '2',
    timeLimit: '30',
    dependsOn: 'a, b c',
    cron: '0 3 * * *',
  });
  assert.deepEqual(body, {
    entrypoint: 'python train.py',
    id: 'run-1',
    runtime_env: {
      env_vars: { A: '1', B: 'x=y' },
      working_dir: 'https://example.org/code.zip',
      pip: ['numpy', 'torch==2.9'],
    },
    resources: { CPU: 4, GPU: 1, memory: 1.5 * 1024 ** 3, slots: 2 },
    priority: -3,
    retries: { failed: 2 },
    time_limit_s: 1800,
    depends_on: ['a', 'b', 'c'],
    cron: '0 3 * * *',
  });
});

test('everything that is wrong is told at once, each at its field', () => {
  const { body, problems } = readForm({
    ...emptyForm,
    id: 'a b',
    cpu: '-1',
    custom: 'slots=many',
    env: 'nothing',
    workingDir: '/home/me',
    retries: '1.5',
    timeLimit: '0',
    cron: 'daily',
  });
  assert.equal(body, undefined);
  assert.deepEqual(Object.keys(problems).sort(), [
    'cpu',
    'cron',
    'custom',
    'entrypoint',
    'env',
    'id',
    'retries',
    'timeLimit',
    'workingDir',
  ]);
});
