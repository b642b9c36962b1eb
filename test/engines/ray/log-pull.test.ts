import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLog } from '../../../src/base/log-segments.ts';
import { wallClock } from '../../../src/base/wall-clock.ts';
import type { RayHttp } from '../../../src/engines/ray/http.ts';
import { LogPull } from '../../../src/engines/ray/log-pull.ts';

it('one read that fails behind a long copy does not cost the rest of the output', async (t) => {
  const log = mkdtempSync(join(tmpdir(), 'manta-pull-'));
  t.after(() => rmSync(log, { recursive: true, force: true }));
  const file = Buffer.from('Running entrypoint for job a.1: true\n0123456789');
  let over = false;
  let failures = 0;
  const ask = async (_: string, { headers }: { headers: { range: string } }) => {
    if (!over) return { status: 404, body: Buffer.alloc(0) };
    await sleep(50);
    const from = Number(/\d+/.exec(headers.range)?.[0]);
    if (from + 4 >= file.length && from < file.length && failures++ === 0) throw new Error('no answer');
    if (from >= file.length) return { status: 416, body: Buffer.alloc(0) };
    return { status: 206, body: file.subarray(from, from + 4) };
  };
  const source = { submission: 'a.1', entrypoint: 'true', agent: 'http://agent', log };
  const pull = new LogPull(source, { http: { ask } as unknown as RayHttp, clock: wallClock, quietPause: () => 0 });
  over = true;
  // Less than all its pieces take together, more than one of them.
  assert.equal(await pull.finish(500), true);
  assert.ok(failures > 0);
  assert.equal((await readLog(log, 0, 1_000)).bytes.toString(), '0123456789');
});
