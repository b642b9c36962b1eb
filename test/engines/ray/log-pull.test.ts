import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readLog } from '../../../src/base/files/log-segments.ts';
import type { RayHttp } from '../../../src/engines/ray/jobs/http.ts';
import { LogPull } from '../../../src/engines/ray/jobs/log-pull.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';

it('one read that fails behind a long copy does not cost the rest of the output', async (t) => {
  const log = mkdtempSync(join(tmpdir(), 'manta-pull-'));
  t.after(() => rmSync(log, { recursive: true, force: true }));
  const file = Buffer.from('Running entrypoint for job a.1: true\n0123456789');
  const time = new VirtualTime(1_000);
  let over = false;
  let failures = 0;
  const ask = async (_: string, { headers }: { headers: { range: string } }) => {
    if (!over) return { status: 404, body: Buffer.alloc(0) };
    await time.sleep(50);
    const from = Number(/\d+/.exec(headers.range)?.[0]);
    if (from + 4 >= file.length && from < file.length && failures++ === 0) throw new Error('no answer');
    if (from >= file.length) return { status: 416, body: Buffer.alloc(0) };
    return { status: 206, body: file.subarray(from, from + 4) };
  };
  const source = { submission: 'a.1', entrypoint: 'true', agent: 'http://agent', log };
  const pull = new LogPull(source, {
    http: { ask } as unknown as RayHttp,
    clock: new VirtualClock(time),
    quietPause: () => 0,
  });
  over = true;
  // Less than all its pieces take together, more than one of them.
  const finished = pull.finish(500);
  await time.run(60_000);
  assert.equal(await finished, true);
  assert.ok(failures > 0);
  assert.equal((await readLog(log, 0, 1_000)).bytes.toString(), '0123456789');
});

it('a node that gives nothing is asked again with longer pauses, until its time is over', async (t) => {
  const log = mkdtempSync(join(tmpdir(), 'manta-pull-'));
  t.after(() => rmSync(log, { recursive: true, force: true }));
  const time = new VirtualTime(1_000);
  const asked: number[] = [];
  const ask = async (): Promise<never> => {
    asked.push(time.now);
    throw new Error('no answer');
  };
  const source = { submission: 'a.1', entrypoint: 'true', agent: 'http://agent', log };
  const clock = new VirtualClock(time);
  const pull = new LogPull(source, { http: { ask } as unknown as RayHttp, clock, quietPause: () => 0 });
  const finished = pull.finish(10_000);
  await time.run(60_000);
  assert.equal(await finished, false);
  // The first question is one of the pull that was under way.
  assert.deepEqual(asked.slice(1, 7), [1_000, 1_100, 1_300, 1_700, 2_500, 3_500]);
  assert.ok((asked.at(-1) ?? 0) <= 11_000, asked.join());
});

it('a node that keeps a question is asked again when the time for one is over', async (t) => {
  const log = mkdtempSync(join(tmpdir(), 'manta-pull-'));
  t.after(() => rmSync(log, { recursive: true, force: true }));
  const time = new VirtualTime(1_000);
  const ask = (_: string, __: unknown, signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
  const source = { submission: 'a.1', entrypoint: 'true', agent: 'http://agent', log };
  const clock = new VirtualClock(time);
  const pull = new LogPull(source, { http: { ask } as unknown as RayHttp, clock, quietPause: () => 0 });
  const finished = pull.finish(10_000);
  await time.run(60_000);
  assert.equal(await finished, false);
});
