// needs: cluster

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { namesIn } from '../../../src/base/files/json-file.ts';
import { readLog, setupLogOf } from '../../../src/base/files/log-segments.ts';
import { findMarked } from '../../../src/base/process.ts';
import type { AttemptOrder, SetupStep } from '../../../src/engines/runner.ts';
import { never, until } from '../../contract/waiting.ts';
import { makeWheel } from '../wheel.ts';
import { TestCluster } from './cluster.ts';

const output = async (order: AttemptOrder): Promise<string> =>
  (await readLog(order.log, 0, 1 << 20)).bytes.toString('utf8');

const pip = (...packages: string[]): SetupStep => ({ kind: 'pip', packages });

test('a pip environment is built once and shared by all who ask for it', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const setup = [pip(await makeWheel(cluster.folder))];
  const orders = ['a', 'b', 'c'].map((id) => cluster.order(id, 'python -c "import spoken"', { setup }));
  const states: string[] = [];
  engine.watch((report) => states.push(`${report.id} ${report.state}`));
  for (const order of orders.slice(0, 2)) await engine.start(order, never);
  for (const order of orders.slice(0, 2)) assert.equal((await cluster.ended(order.id)).cause, 'succeeded');
  assert.ok(states.includes('a setting-up'));
  await engine.start(orders[2] as AttemptOrder, never);
  assert.equal((await cluster.ended('c')).cause, 'succeeded');
  const said = await Promise.all(orders.map(output));
  assert.deepEqual(said, ['spoken\n', 'spoken\n', 'spoken\n']);
  const setups = await Promise.all(
    orders.map(async (order) => (await readLog(setupLogOf(order.log), 0, 1 << 20)).bytes.toString()),
  );
  assert.equal(setups.filter((text) => text.includes('spoken-1.0')).length, 1);
  assert.equal(namesIn(join(cluster.folder, 'environments')).filter((name) => name.endsWith('.ready')).length, 1);
});

/** A folder for PATH with a python3 of our own making. */
function pathWith(folder: string, python?: string): { PATH: string } {
  const PATH = join(folder, 'bin');
  mkdirSync(PATH);
  if (python !== undefined) writeFileSync(join(PATH, 'python3'), `#!/bin/sh\n${python}\n`, { mode: 0o755 });
  return { PATH };
}

test('a failed set-up is told apart, with what the installer said', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  // Makes an environment whose own python is this same script, so that the installation comes back to it and fails.
  const env = pathWith(
    cluster.folder,
    `case "$*" in
      -c*) echo /usr/bin/python3 3.0 ;;
      *venv*) for last; do :; done; /bin/mkdir -p "$last/bin"; /bin/ln -sf "$0" "$last/bin/python" ;;
      *) echo "ERROR: No matching distribution found for nowhere"; exit 1 ;;
    esac`,
  );
  const order = cluster.order('bad', 'echo ran', { setup: [pip('nowhere==1')], env });
  await engine.start(order, never);
  const end = await cluster.ended('bad');
  assert.equal(end.cause, 'setup-failed');
  assert.match(end.message ?? '', /'pip: nowhere==1' failed[^]*No matching distribution/);
  assert.match(await output(order), /No matching distribution/);
  assert.doesNotMatch(await output(order), /^ran$/m);
});

for (const kind of ['pip', 'uv'] as const)
  test(`'${kind}' on a machine without it is a clear failure`, async (t) => {
    const cluster = new TestCluster(t);
    const engine = await cluster.open();
    await cluster.launch('large');
    const env = pathWith(cluster.folder, kind === 'uv' ? 'echo /usr/bin/python3 3.0' : undefined);
    const order = cluster.order('none', 'true', { setup: [{ kind, packages: ['x'] }], env });
    await engine.start(order, never);
    const end = await cluster.ended('none');
    assert.equal(end.cause, 'setup-failed');
    assert.match(end.message ?? '', kind === 'uv' ? /uv is not on PATH/ : /no working python3 on PATH/);
  });

test('python-path puts folders in front of those that are there', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const setup: SetupStep[] = [
    { kind: 'python-path', path: '/two' },
    { kind: 'python-path', path: '/one' },
  ];
  const order = cluster.order('path', 'echo "$PYTHONPATH"', { setup, env: { PYTHONPATH: '/three' } });
  await engine.start(order, never);
  await cluster.ended('path');
  assert.equal(await output(order), '/one:/two:/three\n');
});

test('a stop during set-up ends it', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  const [instance = ''] = await cluster.launch('large');
  const env = pathWith(cluster.folder, 'exec /bin/sleep 1000');
  const slow = cluster.order('slow', 'echo ran', { setup: [pip('x')], env });
  await engine.start(slow, never);
  await until('it is being set up', () => findMarked(instance).length > 0);
  await engine.stop('slow', 0, never);
  const end = await cluster.ended('slow');
  assert.equal(end.cause, 'stopped');
  assert.deepEqual(cluster.leftovers(), []);
});

test('a set-up that takes longer than it may has failed, and nothing of it is left', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const env = pathWith(cluster.folder, 'exec /bin/sleep 1000');
  const order = cluster.order('late', 'echo ran', { setup: [pip('x')], env, setupTimeout: 300 });
  await engine.start(order, never);
  const end = await cluster.ended('late');
  assert.equal(end.cause, 'setup-failed');
  assert.match(end.message ?? '', /TimeoutError: .* within the timeout of 0\.3 seconds.*setup_timeout_seconds/);
  assert.doesNotMatch(await output(order), /^ran$/m);
  assert.deepEqual(cluster.leftovers(), []);
  // One that is quick enough is not touched by it.
  const quick = cluster.order('quick', 'sleep 0.6; echo ran', {
    setup: [{ kind: 'python-path', path: '/x' }],
    setupTimeout: 300,
  });
  await engine.start(quick, never);
  assert.equal((await cluster.ended('quick')).cause, 'succeeded');
});

test('packages that do not fit together fail the set-up where that is to be checked', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const env = pathWith(
    cluster.folder,
    `case "$*" in
      -c*) echo /usr/bin/python3 3.0 ;;
      *venv*) for last; do :; done; /bin/mkdir -p "$last/bin"; /bin/ln -sf "$0" "$last/bin/python" ;;
      *"pip check"*) echo "a has requirement b"; exit 1 ;;
    esac`,
  );
  for (const check of [false, true]) {
    const order = cluster.order(`check-${check}`, '/bin/echo ran', {
      setup: [{ ...pip('a'), check }],
      env: { PATH: env.PATH },
    });
    await engine.start(order, never);
    const end = await cluster.ended(order.id);
    assert.equal(end.cause, check ? 'setup-failed' : 'succeeded', end.message);
    assert.match(await output(order), check ? /a has requirement b/ : /^ran$/m);
  }
});

test('what Manta tells an entrypoint is with the variables of its environment', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  const order = cluster.order('told', 'echo "$A $MANTA_JOB_ID $PYTHONUNBUFFERED"', {
    env: { A: 'b', MANTA_JOB_ID: 'mine' },
    own: { MANTA_JOB_ID: 'told' },
  });
  await engine.start(order, never);
  await cluster.ended('told');
  assert.equal(await output(order), 'b told 1\n');
});
