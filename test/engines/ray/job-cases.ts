import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readLog, setupLogOf } from '../../../src/base/files/log-segments.ts';
import { RayEngine } from '../../../src/engines/ray/engine.ts';
import { RayHttp, textOf } from '../../../src/engines/ray/jobs/http.ts';
import type { AttemptOrder, AttemptReport } from '../../../src/engines/runner.ts';
import { never, until } from '../../contract/waiting.ts';
import { makeWheel } from '../wheel.ts';
import {
  dashboard,
  engineOptions,
  folder,
  killWorker,
  openEngine,
  orderOf,
  python,
  ready,
  shutWorker,
  startWorker,
  token,
} from './ray-cluster.ts';

const ended = (engine: RayEngine, id: string): Promise<AttemptReport> =>
  until(`${id} has ended`, async () => {
    const found = (await engine.attempts(never)).find((each) => each.id === id);
    return found?.state === 'ended' && found;
  });

async function outputOf(log: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let offset = 0; ; ) {
    const piece = await readLog(log, offset, 1 << 20);
    if (piece.bytes.length === 0) return Buffer.concat(pieces);
    pieces.push(piece.bytes);
    offset = piece.next;
  }
}

/** Hands an order over, again where no answer came: it runs once all the same. */
const begin = (engine: RayEngine, order: AttemptOrder): Promise<true> =>
  until(`${order.id} is handed over`, async () => {
    await engine.start(order, never);
    return true;
  });

async function run(engine: RayEngine, order: AttemptOrder): Promise<{ end: AttemptReport; output: string }> {
  await begin(engine, order);
  const end = await ended(engine, order.id);
  const output = (await outputOf(order.log)).toString('utf8');
  await engine.forget(order.id, never);
  return { end, output };
}

/** Jobs on a Ray with a head and a worker in the zone `here`; the last case takes the worker away. */
export function jobCases(current: () => RayEngine): void {
  describe('jobs on ray', () => {
    it('keeps output to the byte, whatever it holds and however fast it comes', async () => {
      const copy = join(folder, 'copy');
      const order = orderOf('bytes.1', `head -c 9000000 /dev/urandom | tee ${copy}`);
      await begin(current(), order);
      const end = await ended(current(), 'bytes.1');
      assert.equal(end.logSize, 9_000_000);
      assert.ok((await outputOf(order.log)).equals(readFileSync(copy)));
      await current().forget('bytes.1', never);
    });

    it('goes on with output where a head that died had stopped, and loses nothing', async () => {
      const options = engineOptions();
      let engine = await RayEngine.open(options, never);
      const count = 'i=0; while [ $i -lt 400 ]; do echo "line $i"; i=$((i+1)); sleep 0.01; done';
      const order = orderOf('resumed.1', count, { resources: { CPU: 1 }, labels: { zone: 'here' } });
      await begin(engine, order);
      for (const size of [50, 1_500]) {
        await until('there is some output', async () => ((await engine.attempts(never))[0]?.logSize ?? 0) > size);
        await engine.close();
        engine = await RayEngine.open(options, never);
      }
      assert.equal((await ended(engine, 'resumed.1')).cause, 'succeeded');
      const lines = Array.from({ length: 400 }, (_, i) => `line ${i}\n`);
      assert.equal((await outputOf(order.log)).toString(), lines.join(''));
      await engine.forget('resumed.1', never);
      await engine.close();
    });

    it('brings the folder and the modules of a job to its node', async () => {
      const workingDir = join(folder, 'work');
      const module = join(folder, 'module');
      for (const path of [workingDir, module]) mkdirSync(path);
      writeFileSync(join(workingDir, 'run.sh'), '#!/bin/sh\ncat deep/word\n');
      chmodSync(join(workingDir, 'run.sh'), 0o755);
      mkdirSync(join(workingDir, 'deep'));
      writeFileSync(join(workingDir, 'deep', 'word'), 'from the folder\n');
      writeFileSync(join(module, 'greeting.py'), 'text = "from the module"\n');
      const entrypoint = `./run.sh && ${python} -c "import greeting; print(greeting.text)" && echo $WORD`;
      const order = orderOf('folder.1', entrypoint, {
        workingDir,
        env: { WORD: 'from the order' },
        setup: [{ kind: 'python-path', path: module }],
      });
      const { end, output } = await run(current(), order);
      assert.equal(output, 'from the folder\nfrom the module\nfrom the order\n');
      assert.equal(end.cause, 'succeeded');
    });

    it('gives each job its own wheel, though another has the same name', async () => {
      const outputs: string[] = [];
      for (const text of ['first', 'second']) {
        const wheel = await makeWheel(join(folder, text), text);
        const order = orderOf(`${text}.1`, `${python} -c "import spoken"`, {
          setup: [{ kind: 'pip', packages: [wheel], path: wheel }],
        });
        outputs.push((await run(current(), order)).output);
      }
      assert.deepEqual(outputs, ['first\n', 'second\n']);
    });

    it('sends what is too large for Ray another way, or says that it is', async () => {
      const workingDir = join(folder, 'large');
      mkdirSync(join(workingDir, 'only'), { recursive: true });
      writeFileSync(join(workingDir, 'only', 'word'), 'from far\n');
      const shipped = join(folder, 'shipped.zip');
      const engine = await openEngine({
        uploadLimit: 10,
        shipArchive: async ({ path }) => {
          copyFileSync(path, shipped);
          return shipped;
        },
      });
      const { output } = await run(engine, orderOf('large.1', 'cat only/word', { workingDir }));
      assert.equal(output, 'from far\n');
      await engine.close();

      const alone = await openEngine({ uploadLimit: 10 });
      const { end } = await run(alone, orderOf('large.2', 'cat only/word', { workingDir }));
      assert.equal(end.cause, 'setup-failed');
      assert.match(end.message ?? '', /Ray's limit is/);
      await alone.close();
    });

    it('tells a set-up that failed, with the reason as its output', async () => {
      const wheel = join(folder, 'bad-1.0-py3-none-any.whl');
      writeFileSync(wheel, 'no archive at all');
      const order = orderOf('setup.1', 'echo ran', { setup: [{ kind: 'pip', packages: [wheel], path: wheel }] });
      const { end, output } = await run(current(), order);
      assert.equal(end.cause, 'setup-failed');
      assert.match(output, /runtime_env setup failed/);
      assert.doesNotMatch(output, /^ran/m);
      assert.match((await outputOf(setupLogOf(order.log))).toString(), /runtime_env setup failed/);
    });

    it('runs a job once, though the answer to its submission was lost', async (t) => {
      let dropped = 0;
      const proxy = createServer((asked, answer) => {
        const headers = { ...asked.headers };
        const onward = request(`${dashboard}${asked.url}`, { method: asked.method, headers }, (reply) => {
          if (asked.method === 'POST' && dropped++ === 0) {
            reply.destroy();
            return void answer.destroy();
          }
          answer.writeHead(reply.statusCode ?? 500, reply.headers);
          reply.pipe(answer);
        });
        asked.pipe(onward);
      }).listen(0, '127.0.0.1');
      t.after(() => {
        proxy.closeAllConnections();
        proxy.close();
      });
      await until('it listens', () => proxy.listening);
      const engine = await openEngine({ dashboard: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
      t.after(() => engine.close());
      const order = orderOf('answer.1', 'echo ran');
      await assert.rejects(engine.start(order, never), /did not respond/);
      const { output } = await run(engine, order);
      assert.equal(output, 'ran\n');
      assert.ok(dropped > 0);
    });

    it('shows nothing of an earlier job that had the same id', async () => {
      for (const word of ['first', 'second'])
        assert.equal((await run(current(), orderOf('again.1', `echo ${word}`))).output, `${word}\n`);
    });

    it('leaves nothing of a forgotten job in the lists of ray', async () => {
      await run(current(), orderOf('gone.1', 'true'));
      const http = new RayHttp(token);
      await until('ray has let go of it', async () => {
        const listed = await http.json(dashboard, { path: '/api/jobs/' }, never);
        assert.ok(!(await current().jobsOfOthers(never)).some(({ submission_id }) => submission_id === 'gone'));
        return !JSON.stringify(listed).includes('"gone"');
      });
      http.close();
    });

    it('leaves the jobs of others alone, and shows them apart', async () => {
      const http = new RayHttp(token);
      const body = JSON.stringify({ entrypoint: 'true', submission_id: 'foreign' });
      const order = { method: 'POST', path: '/api/jobs/', body } as const;
      await until('Ray has taken it', async () => {
        const answer = await http.ask(dashboard, order, never);
        return answer.status === 200 || textOf(answer).includes('already exists');
      });
      http.close();
      await begin(current(), orderOf('own.1', 'true'));
      assert.deepEqual(
        (await current().attempts(never)).map(({ id }) => id),
        ['own.1'],
      );
      const others = (await current().jobsOfOthers(never)).map(({ submission_id }) => submission_id);
      assert.ok(others.includes('foreign') && !others.includes('own'));
      await ended(current(), 'own.1');
      await current().forget('own.1', never);
    });

    it('leaves a name to the job of somebody else that has it', async () => {
      // That of the case before, which is over and still listed.
      const { end, output } = await run(current(), orderOf('foreign.1', 'echo ours'));
      assert.deepEqual([end.cause, end.submission, output], ['succeeded', 'foreign-2', 'ours\n']);
      const others = (await current().jobsOfOthers(never)).map(({ submission_id }) => submission_id);
      assert.ok(others.includes('foreign'));
    });

    it('tells an entrypoint which job and which attempt it is, whatever the entrypoint looks like', async () => {
      const says = 'echo "$MANTA_JOB_ID $MANTA_JOB_ATTEMPT"';
      for (const [id, entrypoint] of [
        ['told.1', says],
        ['told.2', `# a comment\n${says}`],
        ['told.3', `! false && ${says}`],
        ['told.4', `(${says})`],
        ['told.5', `cat <<END\n$(${says})\nEND`],
      ] as const)
        assert.equal((await run(current(), orderOf(id, entrypoint))).output, `${id.replace('.', ' ')}\n`, entrypoint);
    });

    it('tells a preempted node from a lost one', async () => {
      startWorker('worker-2', '127.0.0.3', 1, 'there');
      await ready(current(), 'worker-2');
      const order = orderOf('taken.1', 'echo up; sleep 1000', { resources: { CPU: 1 }, labels: { zone: 'there' } });
      await begin(current(), order);
      await until('it runs', async () => (await current().attempts(never))[0]?.logSize === 3);
      const node = (await current().nodeTable(never)).find(({ instance }) => instance === 'worker-2');
      const deadline = Date.now() + 3_600_000;
      await current().drain(node?.id ?? '', { kind: 'preemption', deadline }, never);
      killWorker('worker-2');
      assert.equal((await ended(current(), 'taken.1')).cause, 'preempted');
      await current().forget('taken.1', never);
    });

    it('tells a driver that its machine took along from one that failed', async () => {
      startWorker('worker-3', '127.0.0.4', 1, 'yonder');
      await ready(current(), 'worker-3');
      const order = orderOf('down.1', 'echo up; sleep 1003', { resources: { CPU: 1 }, labels: { zone: 'yonder' } });
      await begin(current(), order);
      await until('it runs', async () => (await current().attempts(never))[0]?.logSize === 3);
      const node = (await current().nodeTable(never)).find(({ instance }) => instance === 'worker-3');
      await current().drain(node?.id ?? '', { kind: 'preemption', deadline: Date.now() + 3_600_000 }, never);
      shutWorker('worker-3', 'sleep 1003');
      assert.equal((await ended(current(), 'down.1')).cause, 'preempted');
      await current().forget('down.1', never);
    });

    it('tells a job that a signal ended on a node that lives', async () => {
      const { end } = await run(current(), orderOf('signal.1', 'kill -TERM $$'));
      assert.deepEqual([end.cause, end.exitCode], ['failed', 143]);
    });

    it('tells a lost node from a failure, and names the output that is missing', async () => {
      const order = orderOf('lost.1', 'echo before; sleep 1000', { resources: { CPU: 1 }, labels: { zone: 'here' } });
      await begin(current(), order);
      await until('it says so', async () => (await current().attempts(never))[0]?.logSize === 7);
      killWorker('worker-1');
      assert.equal((await ended(current(), 'lost.1')).cause, 'node-lost');
      assert.match(
        (await outputOf(order.log)).toString(),
        /^before\n\n\[manta\] the rest of the output is missing: node /,
      );
      await current().forget('lost.1', never);
    });
  });
}
