import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mark, SamplePoint } from '../../src/api/types.ts';
import {
  carriedTo,
  firstShown,
  groupMarks,
  markLook,
  nodeSeries,
  stacked,
} from '../../src/web/parts/chart/chart-data.ts';
import { addSample } from '../../src/web/state/history.ts';

const sample = (at: number, nodes: Record<string, number>): SamplePoint => ({
  at,
  nodes,
  usage: {},
  queued: 0,
  running: 0,
});

test('layers stand in the order of the spec, with types of the past after them', () => {
  const series = nodeSeries(
    [sample(1000, { gone: 2, cpu: 1 }), sample(2000, { cpu: 3, head: 1, 'cpu+': 4 })],
    ['head', 'cpu', 'never'],
  );
  assert.deepEqual(series.times, [1, 2]);
  assert.deepEqual(
    series.layers.map((layer) => [layer.type, layer.counts]),
    [
      ['head', [0, 1]],
      ['cpu', [1, 3]],
      ['gone', [2, 0]],
    ],
  );
  assert.deepEqual(series.wanted, [3, 8]);
  assert.deepEqual(stacked(series.layers), [
    [0, 1],
    [1, 4],
    [3, 4],
  ]);
});

test('a quiet cluster is drawn up to now, and a young one fills the chart', () => {
  const samples = [sample(1_000_000, { cpu: 1 }), sample(1_060_000, { cpu: 2 })];
  assert.deepEqual(carriedTo(samples, 1_200_000).at(-1), sample(1_200_000, { cpu: 2 }));
  assert.equal(carriedTo(samples, 1_000_000), samples);
  assert.equal(firstShown(samples, 1_030_000, 3_600_000), 970_000);
  assert.equal(firstShown(samples, 2_000_000, 3_600_000), 1_000_000);
  assert.equal(firstShown(samples, 9_000_000, 3_600_000), 5_400_000);
});

test('marks on one spot are one sign, and a failure is never hidden by a launch', () => {
  const mark = (at: number, kind: Mark['kind']): Mark => ({ at, kind, type: 'cpu', count: 2, because: 'x' });
  const groups = groupMarks([mark(1, 'launch'), mark(5, 'failure'), mark(40, 'end')], (at) => at, 16);
  assert.deepEqual(
    groups.map((group) => [group.kind, group.count, group.x]),
    [
      ['failure', 4, 8],
      ['end', 2, 40],
    ],
  );
  assert.equal(markLook(mark(1, 'launch')).label, '2 × cpu launched');
});

test('a new sample pushes out what is older than the range, and an old one is dropped', () => {
  const known = { samples: [sample(10, {}), sample(20, {})], marks: [] };
  assert.deepEqual(
    addSample(known, sample(30, {}), 15).samples.map((each) => each.at),
    [20, 30],
  );
  assert.equal(addSample(known, sample(20, {}), 0), known);
});
