import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextFiring, scheduleProblem } from '../../src/jobs/queue/cron.ts';

test('schedules are read in UTC or in the zone they name', () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  assert.equal(nextFiring('30 * * * *', noon), noon + 30 * 60_000);
  assert.equal(nextFiring('0 12 * * *', noon), noon + 24 * 3_600_000);
  assert.equal(nextFiring('CRON_TZ=Asia/Tokyo 0 22 * * *', noon), noon + 3_600_000);
  assert.equal(scheduleProblem('0 12 * * *'), undefined);
  assert.ok(scheduleProblem('every day'));
  assert.ok(scheduleProblem('* * * * * *'));
  assert.ok(scheduleProblem('99 * * * *'));
});

test('a schedule of a day that no year has is refused, and does not run at once', () => {
  for (const schedule of ['0 0 30 2 *', '0 0 31 4,6,9,11 *'])
    assert.match(scheduleProblem(schedule) ?? '', /never fires/, schedule);
  assert.equal(scheduleProblem('0 0 29 2 *'), undefined);
});
