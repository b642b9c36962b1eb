import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { thisHost } from '../../src/base/this-host.ts';
import type { Clock } from '../../src/base/time/clock.ts';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import { launcherErrors } from '../../src/launcher/errors.ts';
import { lockAndLook } from '../../src/launcher/head/lock.ts';
import type { RemoteCluster } from '../../src/launcher/reach/remote-cluster.ts';
import { headHome, stateFolder } from '../../src/state/state-folder.ts';
import { never, until } from '../contract/waiting.ts';

const home = mkdtempSync(join(tmpdir(), 'manta-lock-'));
const { HOME } = process.env;
process.env['HOME'] = home;
after(() => {
  process.env['HOME'] = HOME;
  rmSync(home, { recursive: true, force: true });
});
const unlocks: (() => Promise<void>)[] = [];
afterEach(async () => void (await Promise.all(unlocks.splice(0).map((unlock) => unlock()))));

const file = join(home, headHome, 'clusters/team/command.lock');
/** Renews at once and without end. */
const hasty: Clock = { ...wallClock, sleep: (_, signal) => wallClock.sleep(20, signal) };

async function takenBy(machine: string, clock: Clock = wallClock): Promise<Awaited<ReturnType<typeof lockAndLook>>> {
  const folder = stateFolder(join(home, machine), 'team');
  mkdirSync(folder.path, { recursive: true });
  const cluster = { head: thisHost(), name: 'team', folder } as unknown as RemoteCluster;
  const locked = await lockAndLook(cluster, 'up', clock, never);
  unlocks.push(locked.unlock);
  return locked;
}

/** As if the holder had been silent for a day. */
function lapse(): void {
  const [id, , ...who] = readFileSync(file, 'utf8').split(' ');
  writeFileSync(file, [id, Math.round(Date.now() / 1_000) - 86_400, ...who].join(' '));
}

const isBusy = (error: unknown): boolean => launcherErrors.BusyElsewhere.is(error);

test('one machine has the lock, which others get when it is given back', async () => {
  const first = await takenBy('first');
  await assert.rejects(takenBy('second'), isBusy);
  await first.unlock();
  assert.ok(!(await takenBy('second')).lost.aborted);
});

test('a machine that slept until its lock lapsed hears that another has it, and leaves that one alone', async () => {
  const first = await takenBy('first');
  lapse();
  await takenBy('second');
  const seen = readFileSync(file, 'utf8');
  await first.unlock();
  assert.equal(readFileSync(file, 'utf8'), seen);

  const sleeper = await takenBy('second', hasty);
  const [, ...rest] = readFileSync(file, 'utf8').split(' ');
  writeFileSync(file, ['somebody', ...rest].join(' '));
  await until('it is told', () => sleeper.lost.aborted);
  assert.ok(isBusy(sleeper.lost.reason));
  assert.match((sleeper.lost.reason as Error).message, /'manta up' of \S+ is changing the cluster 'team'/);
  rmSync(file);
});

test('of many that find a lapsed lock one gets it', async () => {
  for (let round = 0; round < 4; round++) {
    await (await takenBy('first')).unlock();
    await takenBy('first');
    lapse();
    const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f'].map((machine) => takenBy(machine)));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const each of all) if (each.status === 'rejected') assert.ok(isBusy(each.reason), String(each.reason));
    await Promise.all(unlocks.splice(0).map((unlock) => unlock()));
    rmSync(file, { force: true });
  }
});
