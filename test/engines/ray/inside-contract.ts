/** Run by `contract.test.ts` inside namespaces of its own: one Ray, and both contracts on it. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rayVersion } from '../../../scripts/ray-venv.ts';
import type { Resources } from '../../../src/core/resources.ts';
import { RayEngine } from '../../../src/engines/ray/engine.ts';
import { rayErrors } from '../../../src/engines/ray/errors.ts';
import type { AttemptOrder } from '../../../src/engines/runner.ts';
import { engineContract } from '../../contract/engine-contract.ts';
import { runnerContract } from '../../contract/runner-contract.ts';
import { never, until } from '../../contract/waiting.ts';
import { runPython } from '../../jobs/ray-python.ts';
import { clientCasesOnRay } from './client-cases.ts';
import { jobCases } from './job-cases.ts';
import {
  Driver,
  engineOptions,
  killWorker,
  openEngine,
  orderOf,
  python,
  ready,
  removeFolder,
  startHead,
  startWorker,
} from './ray-cluster.ts';
import { statusCases } from './status-cases.ts';

let engine: RayEngine;
let driver: Driver | undefined;

before(async () => {
  startHead({ disk: 2 }, 2);
  engine = await openEngine();
  await until('the dashboard answers', () => engine.jobsOfOthers(never).catch(() => undefined));
  startWorker('worker-1', '127.0.0.2', 2, 'here');
  await ready(engine, 'head-1');
  await ready(engine, 'worker-1');
});

after(async () => {
  driver?.close();
  for (const worker of ['worker-1', 'worker-2', 'worker-3']) killWorker(worker);
  await engine?.close();
  removeFolder();
});

async function load(): Promise<Driver> {
  driver ??= new Driver();
  await driver.ask({ op: 'hello' });
  return driver;
}

/** Ends and forgets everything, so that the next test finds an empty cluster. */
async function clear(runner: RayEngine): Promise<void> {
  for (const { id } of await runner.attempts(never)) await runner.stop(id, 0, never);
  await until('all have ended', async () => (await runner.attempts(never)).every(({ state }) => state === 'ended'));
  for (const { id } of await runner.attempts(never)) await runner.forget(id, never);
  await until('the nodes are free', async () =>
    (await runner.state(never)).nodes.every(
      ({ state, available, total }) => state === 'dead' || available.CPU === total.CPU,
    ),
  );
}

runnerContract('ray', async (t) => {
  const options = engineOptions();
  let current = await RayEngine.open(options, never);
  const known = new Map<string, AttemptOrder>();
  t.after(async () => {
    await clear(current);
    await current.close();
  });
  return {
    runner: () => current,
    again: async () => {
      await current.close();
      current = await RayEngine.open(options, never);
      return current;
    },
    order: (id, entrypoint, more) => {
      const made = { ...orderOf(id, entrypoint, more), ...(known.has(id) && { log: known.get(id)?.log as string }) };
      known.set(id, made);
      return made;
    },
    limits: { gangs: 'first-bundle' },
  };
});

describe('ray', () => {
  it('tells a token that is not accepted from a Ray that is not there', async () => {
    for (const other of [undefined, 'f'.repeat(64)]) {
      const { token: _, ...options } = engineOptions();
      await assert.rejects(RayEngine.open({ ...options, ...(other && { token: other }) }, never), {
        code: rayErrors.NotAllowed.code,
      });
    }
    const nowhere = engineOptions({ address: '127.0.0.1:1', dashboard: 'http://127.0.0.1:1' });
    await assert.rejects(RayEngine.open(nowhere, never), /did not respond/);
  });

  it('reads and writes the store of the GCS', async () => {
    const session = await engine.value('session_name', 'session', never);
    assert.match(Buffer.from(session ?? []).toString(), /^session_/);
    assert.equal(await engine.value('no such key', 'session', never), undefined);
    await engine.put('manta', 'was here', 'session', never);
    assert.equal(Buffer.from((await engine.value('manta', 'session', never)) ?? []).toString(), 'was here');
  });
});

// Once: what an older Ray does is its own.
if (runPython(python, 'import ray; print(ray.__version__)') === rayVersion) clientCasesOnRay();
jobCases(() => engine);
statusCases(() => engine, load);

engineContract('ray', async (t) => {
  const making = await load();
  let jobs = 0;
  t.after(async () => {
    for (const { id } of await engine.attempts(never)) await engine.forget(id, never);
  });
  return {
    engine,
    offers: { CPU: 2, disk: 2 },
    missing: { unobtainium: 1 },
    occupy: (resources) => making.make({ op: 'occupy', resources }),
    submit: (resources: Resources, count: number) => making.make({ op: 'submit', resources, count }),
    submitGang: (bundles, strategy) => making.make({ op: 'gang', bundles, strategy }),
    requestResources: (bundles) =>
      engine.requestResources(
        bundles.map((resources) => ({ request: { resources, selectors: [], placement: [] }, count: 1 })),
        never,
      ),
    attempts: (signal) => engine.attempts(signal),
    runJob: async (entrypoint) => {
      const id = `job-${jobs++}.1`;
      await engine.start(orderOf(id, entrypoint), never);
      return id;
    },
  };
});
