/** In a pod the owner's token is given, by a Secret that is mounted. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silent } from '../../../src/base/events.ts';
import { keepOwner } from '../../../src/head/owner.ts';
import { until } from '../../contract/waiting.ts';
import { FakeRunner } from '../../jobs/fake-runner.ts';
import { ManualClock } from '../../jobs/manual-clock.ts';
import { makeBed } from '../../jobs/queue-bed.ts';

test('the token that is given is the owner’s, in a journal that has never seen it and after the owner was revoked', async (t) => {
  const clock = new ManualClock();
  const bed = await makeBed({ clock, runner: new FakeRunner(clock), run: false });
  t.after(() => bed.remove());
  const folder = mkdtempSync(join(tmpdir(), 'manta-token-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const given = join(folder, 'given');
  writeFileSync(given, 'of-the-secret\n');
  const keep = async (): Promise<void> => {
    const release = await keepOwner(bed.users, silent, folder, given);
    t.after(release);
  };
  await keep();
  assert.deepEqual(
    [bed.users.byToken('of-the-secret')?.name, bed.users.byToken('of-the-secret')?.admin],
    ['owner', true],
  );
  assert.equal(readFileSync(join(folder, 'owner'), 'utf8'), 'of-the-secret\n');

  await bed.users.add('second', { admin: true });
  await bed.users.revoke('owner');
  await until('it is the owner’s again', () => bed.users.byToken('of-the-secret')?.name === 'owner');

  writeFileSync(given, 'a-new-one\n');
  await keep();
  assert.equal(bed.users.byToken('a-new-one')?.name, 'owner');
});
