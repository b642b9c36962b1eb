import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { readLog } from '../../src/base/files/log-segments.ts';
import type { AttemptOrder, AttemptReport, Runner } from '../../src/engines/runner.ts';
import { never, until } from './waiting.ts';

/** One engine with two nodes of two CPUs, and nothing on them. */
export interface RunnerUnderTest {
  runner(): Runner;
  /** A runner as a head makes it at its start, after the death of the one before. */
  again(): Promise<Runner>;
  order(id: string, entrypoint: string, more?: Partial<AttemptOrder>): AttemptOrder;
  /** What the engine cannot do; the suite then holds it to what is left. */
  readonly limits?: RunnerLimits;
}

export interface RunnerLimits {
  /** The entrypoint of a gang gets its first bundle; room for all is looked for, and not kept. */
  readonly gangs?: 'first-bundle';
}

/** What every engine promises to the jobs layer, sentence by sentence of `engines/runner.ts`. */
export function runnerContract(name: string, make: (t: TestContext) => Promise<RunnerUnderTest>): void {
  const report = async (runner: Runner, id: string): Promise<AttemptReport | undefined> =>
    (await runner.attempts(never)).find((each) => each.id === id);
  const reached = (runner: Runner, id: string, state: AttemptReport['state']): Promise<AttemptReport> =>
    until(`${id} is ${state}`, async () => {
      const found = await report(runner, id);
      return found?.state === state && found;
    });
  const output = async (order: AttemptOrder): Promise<string> =>
    (await readLog(order.log, 0, 1 << 20)).bytes.toString('utf8');

  describe(`runner contract: ${name}`, () => {
    it('runs an entrypoint by sh and reports its exit code, times and output', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      const order = made.order('plain.1', 'echo "$WORD" && echo err >&2; exit 7', { env: { WORD: 'said' } });
      await runner.start(order, never);
      const end = await reached(runner, 'plain.1', 'ended');
      assert.equal(end.cause, 'failed');
      assert.equal(end.exitCode, 7);
      assert.ok((end.startedAt ?? 0) <= (end.endedAt ?? -1));
      assert.ok(end.node);
      assert.equal(await output(order), 'said\nerr\n');
      assert.equal(end.logSize, 9);
    });

    it('has room until the nodes are full, and again when work has ended', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      const order = (id: string): AttemptOrder => made.order(id, 'sleep 1000', { resources: { CPU: 2 } });
      assert.ok(runner.hasRoom(order('a')));
      await runner.start(order('a'), never);
      assert.ok(runner.hasRoom(order('b')));
      const starting = runner.start(order('b'), never);
      assert.equal(runner.hasRoom(order('c')), false, 'from the call on');
      await starting;
      assert.equal(runner.hasRoom(order('c')), false);
      await runner.stop('a', 0, never);
      await reached(runner, 'a', 'ended');
      // A node of another machine tells it a moment later.
      await until('there is room again', () => runner.hasRoom(order('c')));
    });

    it('never has room for what no node could hold', async (t) => {
      const made = await make(t);
      assert.equal(made.runner().hasRoom(made.order('x', 'true', { resources: { CPU: 64 } })), false);
      assert.equal(made.runner().hasRoom(made.order('x', 'true', { labels: { zone: 'nowhere' } })), false);
    });

    it('takes over what has no room yet, and runs it when there is', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      for (const id of ['one', 'two', 'three'])
        await runner.start(made.order(id, 'sleep 1000', { resources: { CPU: 2 } }), never);
      assert.equal((await report(runner, 'three'))?.state, 'waiting');
      await runner.stop('one', 0, never);
      await reached(runner, 'three', 'running');
    });

    it('never runs the same id twice', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      const order = made.order('once.1', 'echo ran');
      await Promise.all([runner.start(order, never), runner.start(order, never)]);
      await reached(runner, 'once.1', 'ended');
      await runner.start(order, never);
      await (await made.again()).start(order, never);
      await reached(await made.again(), 'once.1', 'ended');
      assert.equal(await output(order), 'ran\n');
    });

    it('gives a gang all of its bundles at once or none', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      await runner.start(made.order('holder', 'sleep 1000', { resources: { CPU: 1 } }), never);
      await reached(runner, 'holder', 'running');
      const gang = { bundles: [{ CPU: 2 }, { CPU: 2 }], strategy: 'STRICT_SPREAD' };
      const order = made.order('gang.1', 'echo together', { resources: {}, gang });
      assert.equal(runner.hasRoom(order), false);
      if (made.limits?.gangs === 'first-bundle') {
        await runner.stop('holder', 0, never);
        await until('all bundles fit', () => runner.hasRoom(order));
        await runner.start(order, never);
        assert.equal((await reached(runner, 'gang.1', 'ended')).cause, 'succeeded');
        return;
      }
      await runner.start(order, never);
      assert.equal((await report(runner, 'gang.1'))?.state, 'waiting');
      // The bundle that would fit alone is not taken.
      assert.ok(runner.hasRoom(made.order('other', 'true', { resources: { CPU: 2 } })));
      await runner.stop('holder', 0, never);
      assert.equal((await reached(runner, 'gang.1', 'ended')).cause, 'succeeded');
    });

    it('stops politely first', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      const order = made.order('polite', 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.01; done');
      await runner.start(order, never);
      await until('the trap is set', async () => (await output(order)) === 'up\n');
      await runner.stop('polite', 30_000, never);
      const end = await reached(runner, 'polite', 'ended');
      assert.equal(end.cause, 'stopped');
      assert.match(await output(order), /bye/);
    });

    it('kills what does not listen, when the grace is over', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      const order = made.order('deaf', 'trap "" TERM; echo up; while :; do sleep 0.05; done');
      await runner.start(order, never);
      await until('it is deaf', async () => (await output(order)) === 'up\n');
      await runner.stop('deaf', 100, never);
      assert.equal((await reached(runner, 'deaf', 'ended')).cause, 'stopped');
    });

    it('stops what still waits', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      await runner.start(made.order('never', 'echo ran', { resources: { CPU: 64 } }), never);
      await runner.stop('never', 1_000, never);
      const end = await reached(runner, 'never', 'ended');
      assert.equal(end.cause, 'stopped');
      assert.equal(end.logSize, 0);
    });

    it('takes the stop of what is over or unknown without complaint', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      await runner.stop('unknown', 0, never);
      await runner.start(made.order('over', 'true'), never);
      await reached(runner, 'over', 'ended');
      await runner.stop('over', 0, never);
      assert.equal((await report(runner, 'over'))?.cause, 'succeeded');
    });

    it('keeps ended attempts until they are forgotten, across a restart too', async (t) => {
      const made = await make(t);
      await made.runner().start(made.order('kept', 'exit 3'), never);
      await reached(made.runner(), 'kept', 'ended');
      const fresh = await made.again();
      assert.equal((await reached(fresh, 'kept', 'ended')).exitCode, 3);
      await fresh.forget('kept', never);
      await fresh.forget('kept', never);
      assert.deepEqual(await fresh.attempts(never), []);
      assert.deepEqual(await (await made.again()).attempts(never), []);
    });

    it('finds running attempts again after a restart, and their ends', async (t) => {
      const made = await make(t);
      const order = made.order('outlives', 'echo before; while [ ! -e go ]; do sleep 0.01; done; echo after');
      await made.runner().start(order, never);
      const { pid } = await reached(made.runner(), 'outlives', 'running');
      const fresh = await made.again();
      assert.equal((await reached(fresh, 'outlives', 'running')).pid, pid);
      await fresh.stop('outlives', 0, never);
      assert.equal((await reached(fresh, 'outlives', 'ended')).cause, 'stopped');
    });

    it('tells every change to those who watch, until they leave', async (t) => {
      const made = await make(t);
      const runner = made.runner();
      const seen: string[] = [];
      const leave = runner.watch((each) => seen.push(`${each.id} ${each.state}`));
      await runner.start(made.order('told', 'true'), never);
      await until('the end is told', () => seen.includes('told ended'));
      assert.ok(seen.indexOf('told running') < seen.indexOf('told ended'));
      leave();
      await runner.start(made.order('untold', 'true'), never);
      await reached(runner, 'untold', 'ended');
      assert.ok(!seen.some((each) => each.startsWith('untold')));
    });
  });
}
