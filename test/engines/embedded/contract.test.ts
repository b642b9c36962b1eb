// needs: cluster

import type { Resources } from '../../../src/core/resources.ts';
import type { AttemptOrder } from '../../../src/engines/runner.ts';
import { engineContract } from '../../contract/engine-contract.ts';
import { runnerContract } from '../../contract/runner-contract.ts';
import { never } from '../../contract/waiting.ts';
import { TestCluster } from './cluster.ts';

engineContract('embedded', async (t) => {
  const cluster = new TestCluster(t);
  const engine = await cluster.open();
  await cluster.launch('large');
  let made = 0;
  const start = async (entrypoint: string, more: Partial<AttemptOrder>): Promise<() => Promise<void>> => {
    const id = `work-${made++}`;
    await engine.start(cluster.order(id, entrypoint, more), never);
    return async () => {
      await engine.stop(id, 0, never);
      await cluster.ended(id);
    };
  };
  return {
    engine,
    offers: { CPU: 4, disk: 2 },
    missing: { unobtainium: 1 },
    occupy: async (resources) => {
      const free = await start('sleep 1000', { resources });
      await cluster.running(`work-${made - 1}`);
      return free;
    },
    submit: async (resources: Resources, count: number) => {
      const each = await Promise.all(Array.from({ length: count }, () => start('true', { resources })));
      return async () => {
        for (const takeBack of each) await takeBack();
      };
    },
    submitGang: (bundles, strategy) => start('true', { resources: {}, gang: { bundles, strategy } }),
    attempts: (signal) => engine.attempts(signal),
    runJob: async (entrypoint) => {
      await start(entrypoint, {});
      return `work-${made - 1}`;
    },
    requestResources: async (bundles) =>
      engine.requestResources(
        bundles.map((resources) => ({ request: { resources, selectors: [], placement: [] }, count: 1 })),
      ),
  };
});

runnerContract('embedded', async (t) => {
  const cluster = new TestCluster(t);
  cluster.types.two = { resources: { CPU: 2 } };
  await cluster.open();
  await cluster.launch('two', 2);
  return {
    runner: () => cluster.engine,
    again: () => cluster.open(),
    order: (id, entrypoint, more) => cluster.order(id, entrypoint, more),
  };
});
