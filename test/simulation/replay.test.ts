import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayCommand, soak, tallyLines } from '../../scripts/soak.ts';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import { faultProfileNames } from '../../src/simulation/faults.ts';
import { runSeed } from '../../src/simulation/run-seed.ts';

test('the same seed is the same run, to the last event', async () => {
  for (const profile of faultProfileNames) {
    const first = await runSeed({ seed: 11, profile, planner: plan });
    const second = await runSeed({ seed: 11, profile, planner: plan });
    assert.deepEqual(second, first, replayCommand({ profile, seed: 11 }));
  }
});

test('another seed is another run', async () => {
  const traces = new Set<number>();
  for (let seed = 1; seed <= 20; seed++) traces.add((await runSeed({ seed, profile: 'mild', planner: plan })).trace);
  assert.equal(traces.size, 20);
});

test('runs under every profile break no rule, with hundreds of passes and faults that really fired', async () => {
  const tally = await soak({ runs: 200, from: 500_000, workers: 2 });
  assert.deepEqual(tally.failures, [], tallyLines(tally).join('\n'));
  assert.ok(tally.passes / tally.runs >= 200, tallyLines(tally).join('\n'));
  assert.ok(tally.faults / tally.runs >= 5, tallyLines(tally).join('\n'));
});

test('a failure names its seed, its profile and the command that replays it', () => {
  const result = { seed: 7, profile: 'chaos' as const, passes: 3, faults: 2, fired: {}, trace: 0, virtualTime: 0 };
  const violations = [{ rule: 'leak' as const, detail: 'i-1 still there', at: 5 }];
  const lines = tallyLines({
    runs: 1,
    passes: 3,
    faults: 2,
    byProfile: {},
    byFault: {},
    failures: [{ result: { ...result, violations }, replay: replayCommand(result) }],
  });
  assert.match(
    lines.join('\n'),
    /seed 7, chaos: leak: i-1 still there\n\s+node scripts\/soak\.ts --profile chaos --seed 7/,
  );
});
