import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { silent } from '../../../src/base/events.ts';
import { wallClock } from '../../../src/base/wall-clock.ts';
import { type AttemptEdges, RayAttempts } from '../../../src/engines/ray/attempts.ts';
import { Bookings } from '../../../src/engines/ray/bookings.ts';
import type { JobInfo } from '../../../src/engines/ray/job-info.ts';
import type { Submission } from '../../../src/engines/ray/submission.ts';
import type { AttemptOrder, AttemptReport } from '../../../src/engines/runner.ts';
import { never, until } from '../../contract/waiting.ts';

/** Attempts at a Ray that has `infos`, and packages that travel until `arrive` is called or they are broken off. */
function attemptsOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'manta-attempts-'));
  const infos = new Map<string, JobInfo>();
  const said: string[] = [];
  const told: AttemptReport[] = [];
  const travel = Promise.withResolvers<void>();
  let refusing = false;
  const submissionOf = async (name: string, order: AttemptOrder, signal: AbortSignal): Promise<Submission> => {
    said.push(`ship ${name}`);
    const broken = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await Promise.race([travel.promise, broken]);
    return { submission_id: name, entrypoint: order.entrypoint, runtime_env: {}, metadata: {} };
  };
  const edges = {
    folder,
    clock: wallClock,
    events: silent,
    bookings: new Bookings(),
    jobs: {
      submit: async ({ submission_id }: Submission) => {
        if (refusing) throw new Error('no way to Ray');
        said.push(`submit ${submission_id}`);
        infos.set(submission_id, { status: 'PENDING' });
        return {};
      },
      stop: async (id: string) => said.push(`stop ${id}`) > 0,
      delete: async () => {},
    },
    infos: async (ids: readonly string[]) => new Map([...infos].filter(([id]) => ids.includes(id))),
    killSupervisor: async () => {},
    submissionOf,
    onTaken: ({ id }: AttemptOrder) => said.push(`take ${id}`),
    onBooked: ({ id }: AttemptOrder) => said.push(`book ${id}`),
    onRunning: () => {},
  } as unknown as AttemptEdges;
  const attempts = new RayAttempts(edges);
  attempts.watch((report) => told.push(report));
  t.after(async () => {
    await attempts.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const order = (id: string): AttemptOrder => {
    const plain = { id, job: 'j', entrypoint: 'true', env: {}, setup: [], resources: { CPU: 1 }, labels: {} };
    return { ...plain, log: join(folder, id) };
  };
  return { attempts, infos, said, told, arrive: () => travel.resolve(), refuse: () => void (refusing = true), order };
}

it('an attempt has its room before its packages travel', async (t) => {
  const { attempts, said, arrive, order } = attemptsOf(t);
  const starting = attempts.start(order('a.1'), never);
  assert.deepEqual(said, ['take a.1', 'ship a.1']);
  arrive();
  await starting;
  assert.deepEqual(said.slice(2), ['book a.1', 'submit a.1']);
});

it('an attempt that is stopped while its packages travel never reaches Ray', async (t) => {
  const { attempts, said, told, order } = attemptsOf(t);
  const starting = attempts.start(order('a.1'), never);
  await attempts.stop('a.1', 0, never);
  await starting;
  assert.deepEqual(
    told.map(({ state, cause }) => [state, cause]),
    [['ended', 'stopped']],
  );
  assert.ok(!said.some((each) => /^submit|^stop/.test(each)), said.join());
  assert.equal(attempts.busy, false);
});

it('one that came there by an earlier try, whose answer was lost, is stopped there', async (t) => {
  const { attempts, infos, said, told, order } = attemptsOf(t);
  infos.set('a.1', { status: 'PENDING' });
  void attempts.start(order('a.1'), never);
  await attempts.stop('a.1', 0, never);
  assert.ok(said.includes('stop a.1'), said.join());
  infos.set('a.1', { status: 'STOPPED' });
  await until('its end is told', () => told.some(({ state, cause }) => state === 'ended' && cause === 'stopped'));
});

it('one that Ray has not taken yet is over when it is stopped', async (t) => {
  const { attempts, told, arrive, order, refuse } = attemptsOf(t);
  arrive();
  refuse();
  await assert.rejects(attempts.start(order('a.1'), never), /no way to Ray/);
  await attempts.stop('a.1', 0, never);
  assert.deepEqual(
    told.map(({ state, cause }) => [state, cause]),
    [['ended', 'stopped']],
  );
  assert.equal(attempts.busy, false);
});
