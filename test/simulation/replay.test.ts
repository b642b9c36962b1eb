import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { replayCommand, soak, tallyLines } from '../../scripts/soak.ts';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import { runNode } from '../cli/run-manta.ts';
import { faultProfileNames, runSeed } from './run-seed.ts';

test('the same seed is the same run, to the last event', async () => {
  for (const profile of faultProfileNames) {
    const first = await runSeed({ seed: 11, profile, planner: plan });
    const second = await runSeed({ seed: 11, profile, planner: plan });
    assert.deepEqual(second, first, replayCommand({ profile, seed: 11 }));
  }
});

test('another seed is another run', async () => {
  const traces = new Set<number>();
  for (let seed = 1; seed <= 8; seed++) traces.add((await runSeed({ seed, profile: 'mild', planner: plan })).trace);
  assert.equal(traces.size, 8);
});

test('runs under every profile break no rule, with hundreds of passes and faults that really fired', async () => {
  const tally = await soak({ runs: 60, from: 500_000, workers: 2 });
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
  assert.match(lines.join('\n'), /seed 7, chaos: leak: i-1 still there\n\s+npm run soak -- --profile chaos --seed 7/);
});

test('the command that replays a run replays it, and a bad option is told in one sentence', async () => {
  const soakFile = fileURLToPath(new URL('../../scripts/soak.ts', import.meta.url));
  const run = (...words: string[]): ReturnType<typeof runNode> => runNode([soakFile, ...words]);
  const again = await run('--profile', 'mild', '--seed', '7');
  assert.equal(again.exit, 0, again.stderr);
  const { trace } = await runSeed({ seed: 7, profile: 'mild', planner: plan });
  assert.equal((JSON.parse(again.stdout) as { trace: number }).trace, trace);
  for (const [words, told] of [
    [['--seed', 'x'], /^--seed must be a whole number of at least 0, not 'x'\n$/],
    [['--runs', '0'], /^--runs must be a whole number of at least 1, not '0'\n$/],
    [['--profile', 'calm'], /^no profile is called 'calm'; there are none, mild, .*\n$/],
    [['--seeed', '1'], /^Unknown option '--seeed'; --help lists the options\n$/],
    [['--seed'], /^Option '--seed <value>' argument missing; --help lists the options\n$/],
    [['7'], /^Unexpected argument '7'; --help lists the options\n$/],
  ] as const) {
    const { exit, stdout, stderr } = await run(...words);
    assert.deepEqual([exit, stdout], [2, ''], words.join(' '));
    assert.match(stderr, told);
  }
  assert.match((await run('--help')).stdout, /npm run soak -- --profile chaos --seed 7/);
});
