import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PreemptedNodes } from '../../../src/engines/ray/gcs/preempted-nodes.ts';
import { type EndedJob, settleEnd } from '../../../src/engines/ray/jobs/job-end.ts';
import type { JobInfo, NodeFate } from '../../../src/engines/ray/jobs/job-info.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { never } from '../../contract/waiting.ts';

const failedWith = (code: number): JobInfo => ({ status: 'FAILED', driver_exit_code: code, driver_node_id: 'ab' });

/** The cause of its end, where Ray calls its node alive so many times before it says what became of it. */
async function causeOf(job: EndedJob, ray: { alive: number; fate: NodeFate; leaving?: boolean }) {
  let questions = 0;
  const time = new VirtualTime(0);
  const settling = settleEnd(
    job,
    {
      clock: new VirtualClock(time),
      fateOf: async () => (++questions > ray.alive ? ray.fate : 'alive'),
      isLeaving: () => ray.leaving === true,
      abandon: async () => {},
    },
    never,
  );
  await time.run(600_000);
  return { cause: (await settling).cause, questions };
}

describe('a driver that was ended by a signal', () => {
  it('is lost with its node, also where Ray learns of that a moment later', async () => {
    for (const alive of [0, 2]) {
      const job = { info: failedWith(-15), stopped: false };
      assert.equal((await causeOf(job, { alive, fate: 'lost' })).cause, 'node-lost');
      assert.equal((await causeOf(job, { alive, fate: 'preempted' })).cause, 'preempted');
    }
  });

  it('waits longer for the word of a node that was to go', async () => {
    const late = { alive: 6, fate: 'preempted' } as const;
    const job = { info: failedWith(143), stopped: false };
    assert.equal((await causeOf(job, { ...late, leaving: true })).cause, 'preempted');
    assert.equal((await causeOf(job, late)).cause, 'failed');
  });

  it('has failed on a node that lives', async () => {
    const job = { info: failedWith(-9), stopped: false };
    assert.equal((await causeOf(job, { alive: 1_000, fate: 'alive' })).cause, 'failed');
  });
});

it('a job that was stopped, or that ended by itself, is told at once, without a word of its node', async () => {
  const lost = { alive: 0, fate: 'lost', leaving: true } as const;
  assert.deepEqual(await causeOf({ info: failedWith(-15), stopped: true }, lost), { cause: 'stopped', questions: 0 });
  assert.deepEqual(await causeOf({ info: failedWith(3), stopped: false }, lost), { cause: 'failed', questions: 0 });
});

it('nodes that are taken away are known to who starts anew', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-preempted-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  new PreemptedNodes(join(folder, 'new')).add('ab');
  const again = new PreemptedNodes(join(folder, 'new'));
  assert.deepEqual([again.has('ab'), again.has('cd')], [true, false]);
});
