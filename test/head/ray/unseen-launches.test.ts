import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UnseenLaunches } from '../../../src/head/ray/machines/unseen-launches.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';

const short = 2_000;
const long = 60_000;
const instance = (id: string) => ({ id }) as ProviderInstance;

function bed(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'manta-unseen-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const time = new VirtualTime(1_000_000);
  const file = join(folder, 'unseen.json');
  const open = () => new UnseenLaunches(file, new VirtualClock(time));
  return { time, file, open };
}

test('lists settle soon when they show all that was launched, and late until they do', async (t) => {
  const { file, open } = bed(t);
  const launches = open();
  assert.equal(launches.settles(), short);
  await launches.launch(async () => [instance('a'), instance('b')]);
  launches.listed([instance('a')]);
  assert.equal(launches.settles(), long);
  assert.equal(open().settles(), long, 'the next mantad knows it too');
  launches.listed([instance('a'), instance('b')]);
  assert.equal(launches.settles(), short);
  assert.equal(existsSync(file), false);
});

test('a launch without an answer is waited for as long as lists may lag; one that was refused is not', async (t) => {
  const { time, file, open } = bed(t);
  const launches = open();
  const refused = launches.launch(async () => {
    throw providerErrors.NoCapacity({ type: 'worker' });
  });
  await assert.rejects(refused);
  assert.equal(launches.settles(), short);
  const lost = launches.launch(async () => {
    throw providerErrors.Unreachable({ call: 'launch' });
  });
  await assert.rejects(lost);
  launches.listed([]);
  assert.equal(launches.settles(), long);
  assert.ok(existsSync(file));
  await time.run(1_000_000 + 2 * long);
  launches.listed([]);
  assert.equal(launches.settles(), short);
  assert.equal(existsSync(file), false);
});

test('while one launch is under way, the answer to another settles nothing', async (t) => {
  const { open } = bed(t);
  const launches = open();
  const slow = Promise.withResolvers<readonly ProviderInstance[]>();
  const under = launches.launch(() => slow.promise);
  await launches.launch(async () => [instance('a')]);
  launches.listed([instance('a')]);
  assert.equal(launches.settles(), long);
  assert.equal(open().settles(), long);
  slow.resolve([instance('b')]);
  await under;
  launches.listed([instance('a'), instance('b')]);
  assert.equal(launches.settles(), short);
});

test('a clock that was set back keeps nobody waiting for longer than lists lag', async (t) => {
  const { file, open } = bed(t);
  await open().launch(async () => [instance('a')]);
  const earlier = new UnseenLaunches(file, new VirtualClock(new VirtualTime(0)));
  assert.equal(earlier.settles(), long);
});
