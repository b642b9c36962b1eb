import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import { headErrors } from '../../../src/head/errors.ts';
import { TurnOffKeeper } from '../../../src/head/turn-off/turn-off.ts';
import { stateFolder } from '../../../src/state/state-folder.ts';
import { ManualClock } from '../../jobs/manual-clock.ts';

/** The keeper of a cluster that lives for an hour, and where it keeps what must outlive it. */
function keeperOf(t: TestContext): { make: () => TurnOffKeeper; file: string; clock: ManualClock } {
  const home = mkdtempSync(join(tmpdir(), 'manta-extend-'));
  t.after(() => rmSync(home, { recursive: true }));
  const folder = stateFolder(home, 'c');
  mkdirSync(folder.path, { recursive: true });
  const clock = new ManualClock();
  const make = (): TurnOffKeeper =>
    new TurnOffKeeper({
      folder,
      clock,
      events: { emit: () => {} },
      spec: () => ({ provider: { manta: { maxLifetime: 3_600_000 } } }) as unknown as ClusterSpec,
      jobs: () => [],
      activity: async () => [],
      commandUnderWay: () => undefined,
      begin: () => false,
      failed: () => {},
    });
  return { make, file: folder.files.turnOff, clock };
}

test('an extension that is no date, or that has passed, is refused and leaves nothing behind', (t) => {
  const { make, clock } = keeperOf(t);
  const keeper = make();
  const before = keeper.answer();
  for (const request of [
    { until: 58579797551402880 },
    { until: 8.64e15 + 1 },
    { until: clock.now() - 1 },
    { until: Number.NaN },
    { until: -1 },
    { by: 1e300 },
    { by: -7_200_000 },
  ]) {
    assert.throws(
      () => keeper.extend(request),
      (error) => headErrors.NoExtension.is(error),
      JSON.stringify(request),
    );
    assert.deepEqual(keeper.answer(), before);
  }
  assert.equal(keeper.extend({ until: clock.now() + 7_200_000 })?.keepUntil, clock.now() + 7_200_000);
  assert.equal(make().answer()?.keepUntil, clock.now() + 7_200_000);
});

test('a state folder that holds an extension that is no date is read as if it held none', (t) => {
  const { make, file, clock } = keeperOf(t);
  make().extend({ by: 1_000 });
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  for (const keepUntil of [58579797551402880, -5, 'tomorrow', null]) {
    writeFileSync(file, JSON.stringify({ ...kept, keepUntil }));
    const keeper = make();
    assert.equal(keeper.answer()?.keepUntil, undefined);
    assert.ok(keeper.extend({ until: clock.now() + 7_200_000 }));
  }
});
