import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { Resources } from '../../src/core/resources.ts';
import type { Engine, EngineNode } from '../../src/engines/engine.ts';
import type { Runner } from '../../src/engines/runner.ts';
import { never, until } from './waiting.ts';

/** One engine with a single node that does nothing at first. */
export interface EngineUnderTest {
  readonly engine: Engine;
  /** What the node offers, at least. */
  readonly offers: Resources;
  /** Something that no node of the engine has. */
  readonly missing: Resources;
  /** Keeps `resources` busy until the returned function is called. */
  readonly occupy: (resources: Resources) => Promise<() => Promise<void>>;
  /** Submits `count` tasks or jobs of one shape that must wait; the returned function takes them back. */
  readonly submit: (resources: Resources, count: number) => Promise<() => Promise<void>>;
  readonly submitGang: (bundles: readonly Resources[], strategy: string) => Promise<() => Promise<void>>;
  readonly requestResources: (bundles: readonly Resources[]) => Promise<void>;
  /** Reads the jobs that the engine knows. */
  readonly attempts: Runner['attempts'];
  /** Hands a job over and returns its id. */
  readonly runJob: (entrypoint: string) => Promise<string>;
}

/** What every engine promises to the autoscaler, sentence by sentence of `engines/engine.ts`. */
export function engineContract(name: string, make: (t: TestContext) => Promise<EngineUnderTest>): void {
  const onlyNode = async (engine: Engine): Promise<EngineNode> => {
    const nodes = (await engine.state(never)).nodes.filter((node) => node.state !== 'dead');
    assert.equal(nodes.length, 1);
    return nodes[0] as EngineNode;
  };
  const has = (asked: Resources, found: Resources): boolean =>
    Object.entries(asked).every(([resource, amount]) => found[resource] === amount);

  describe(`engine contract: ${name}`, () => {
    it('shows its nodes with what they offer, and nothing waiting', async (t) => {
      const { engine, offers } = await make(t);
      const state = await engine.state(never);
      assert.ok(Math.abs(state.at - Date.now()) < 3_600_000);
      const node = await onlyNode(engine);
      assert.equal(node.state, 'alive');
      for (const [resource, amount] of Object.entries(offers)) {
        assert.equal(node.total[resource], amount);
        assert.equal(node.available[resource], amount);
      }
      assert.deepEqual(state.demand, { tasks: [], gangs: [], standing: [] });
    });

    it('counts how long a node has done nothing, and starts again after work', async (t) => {
      const { engine, occupy } = await make(t);
      await until('it counts', async () => (await onlyNode(engine)).idleFor > 0);
      const free = await occupy({ CPU: 1 });
      await until('it is busy', async () => (await onlyNode(engine)).idleFor === 0);
      await free();
      await until('it counts again', async () => (await onlyNode(engine)).idleFor > 0);
    });

    it('takes what is in use from what is available', async (t) => {
      const { engine, offers, occupy } = await make(t);
      const free = await occupy({ CPU: 1 });
      const left = (offers.CPU ?? 0) - 1;
      await until('it is taken', async () => ((await onlyNode(engine)).available.CPU ?? 0) === left);
      await free();
      await until('it is given back', async () => (await onlyNode(engine)).available.CPU === offers.CPU);
    });

    it('counts what waits by its shape', async (t) => {
      const { engine, missing, submit } = await make(t);
      const other = { ...missing, CPU: 1 };
      const takeBack = [await submit(missing, 3), await submit(other, 2)];
      await until('both shapes are seen', async () => {
        const { tasks } = (await engine.state(never)).demand;
        const count = (asked: Resources): number =>
          tasks
            .filter(({ request }) => has(asked, request.resources) && has(request.resources, asked))
            .reduce((sum, task) => sum + task.count, 0);
        return count(missing) === 3 && count(other) === 2;
      });
      for (const each of takeBack) await each();
      await until('nothing waits', async () => (await engine.state(never)).demand.tasks.length === 0);
    });

    it('shows a gang as one demand, and what must be apart as a rule', async (t) => {
      const { engine, missing, submitGang } = await make(t);
      const takeBack = await submitGang([missing, missing], 'STRICT_SPREAD');
      const gang = await until('the gang is seen', async () => (await engine.state(never)).demand.gangs[0]);
      assert.equal(gang.requests.length, 2);
      for (const request of gang.requests) {
        assert.ok(has(missing, request.resources));
        assert.equal(request.placement[0]?.kind, 'apart');
      }
      assert.equal(new Set(gang.requests.map((request) => request.placement[0]?.label)).size, 1);
      await takeBack();
      await until('it is gone', async () => (await engine.state(never)).demand.gangs.length === 0);
    });

    it('shows the last standing request until it is withdrawn', async (t) => {
      const { engine, requestResources } = await make(t);
      const standing = async (): Promise<number[]> =>
        (await engine.state(never)).demand.standing.flatMap(({ requests }) =>
          requests.flatMap(({ request, count }) => Array<number>(count).fill(request.resources.CPU ?? 0)),
        );
      await requestResources([{ CPU: 7 }, { CPU: 7 }]);
      await until('it is seen', async () => (await standing()).join() === '7,7');
      await requestResources([{ CPU: 9 }]);
      await until('it is replaced', async () => (await standing()).join() === '9');
      await requestResources([]);
      await until('it is withdrawn', async () => (await standing()).length === 0);
    });

    it('takes a report of what can never be met', async (t) => {
      const { engine, missing } = await make(t);
      const request = { resources: missing, selectors: [], placement: [] };
      await engine.reportInfeasible([{ kind: 'tasks', request, count: 1, types: [] }], never);
      await engine.reportInfeasible([], never);
    });

    it('shows its jobs with their states, ends and exit codes', async (t) => {
      const { attempts, runJob } = await make(t);
      const ids = [await runJob('exit 3'), await runJob('true')];
      const ends = await until('both have ended', async () => {
        const all = await attempts(never);
        const mine = ids.map((id) => all.find((report) => report.id === id));
        return mine.every((report) => report?.state === 'ended') && mine;
      });
      assert.deepEqual(
        ends.map((end) => [end?.cause, end?.exitCode]),
        [
          ['failed', 3],
          ['succeeded', 0],
        ],
      );
      for (const end of ends) {
        assert.ok(end?.node);
        assert.ok((end.startedAt ?? Infinity) <= (end.endedAt ?? 0));
      }
    });

    it('counts a node that is gone as drained', async (t) => {
      const { engine } = await make(t);
      assert.equal((await engine.drain('ab'.repeat(28), { kind: 'idle' }, never)).accepted, true);
    });

    it('refuses to drain a busy node for being idle, and says why', async (t) => {
      const { engine, occupy } = await make(t);
      const free = await occupy({ CPU: 1 });
      const node = await until('it is busy', async () => {
        const found = await onlyNode(engine);
        return found.idleFor === 0 && found;
      });
      const answer = await engine.drain(node.id, { kind: 'idle' }, never);
      assert.equal(answer.accepted, false);
      assert.ok(answer.reason);
      assert.equal((await onlyNode(engine)).state, 'alive');
      await free();
    });

    it('does not refuse a preemption', async (t) => {
      const { engine, occupy } = await make(t);
      const free = await occupy({ CPU: 1 });
      const { id } = await onlyNode(engine);
      const deadline = Date.now() + 3_600_000;
      assert.equal((await engine.drain(id, { kind: 'preemption', deadline }, never)).accepted, true);
      await until('it drains', async () => (await onlyNode(engine)).state === 'draining');
      await free();
    });
  });
}
