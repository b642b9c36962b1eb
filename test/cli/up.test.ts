import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { main } from '../../src/cli/main.ts';
import { clusterNames } from '../../src/state/state-folder.ts';
import { screen } from './screen.ts';

test('clusters that run are named to be ended, and up without a name makes default', {
  timeout: 120_000,
}, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-up-'));
  const manta = async (words: readonly string[], env: Record<string, string> = {}) => {
    const on = screen({ env: { MANTA_HOME: home, ...env } });
    return { exit: await main(words, on), ...on.shown };
  };
  t.after(async () => {
    for (const name of clusterNames(home)) await manta(['down', '-y', '-n', name]);
    rmSync(home, { recursive: true, force: true });
  });

  const first = await manta(['up', '--json'], { MANTA_CLUSTER: 'other' });
  assert.equal(first.exit, 0, first.stderr);
  const second = await manta(['up', '--json']);
  assert.equal(second.exit, 0, second.stderr);
  const nameIn = (text: string): unknown => (JSON.parse(text) as { name: unknown }).name;
  assert.deepEqual([nameIn(first.stdout), nameIn(second.stdout)], ['other', 'default']);

  for (const words of [['down', '-y'], ['status'], ['job', 'list']]) {
    const { exit, stderr } = await manta(words);
    assert.equal(exit, 2, words.join(' '));
    assert.match(stderr, /there are several: default, other \(MANTA_CLIENT_SEVERAL_CLUSTERS\)/);
  }
  assert.match((await manta(['down', '-y'], { MANTA_CLUSTER: 'other' })).stdout, /'other' is down/);
  assert.equal((await manta(['status'])).exit, 0, 'default still runs');
  assert.match((await manta(['down', '-y'])).stdout, /'default' is down/);
});
