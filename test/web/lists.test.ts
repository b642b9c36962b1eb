import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobRow, NodeAnswer } from '../../src/api/types.ts';
import type { JobState } from '../../src/core/jobs/job.ts';
import { rowsInSight, rowsMoved, scrollToShow } from '../../src/web/parts/window-math.ts';
import { addPage, applyChanges, byNewest, matchesFilter } from '../../src/web/state/job-query.ts';
import { filterNodes, fullest, groupCounts } from '../../src/web/state/node-query.ts';
import { linkTo, parseRoute } from '../../src/web/state/route.ts';
import { fc } from '../property.ts';

function row(id: string, submittedAt: number, state: JobState = 'running'): JobRow {
  return {
    id,
    user: 'ana',
    entrypoint: `run ${id}`,
    state,
    message: '',
    priority: 0,
    resources: {},
    attempts: 1,
    submittedAt,
  };
}

const states: readonly JobState[] = ['queued', 'running', 'failed'];
const arbitraryRow = fc
  .record({ number: fc.nat({ max: 30 }), state: fc.constantFrom(...states) })
  .map(({ number, state }) => row(`job-${number}`, number * 10, state));

test('a fully loaded list after any changes is what the head would answer', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(arbitraryRow, { selector: (each) => each.id }),
      fc.uniqueArray(arbitraryRow, { selector: (each) => each.id }),
      fc.subarray([...states]),
      (known, changed, wanted) => {
        const filter = { states: wanted, search: '' };
        const asked = (rows: readonly JobRow[]): JobRow[] =>
          rows.filter((each) => matchesFilter(each, filter)).sort(byNewest);
        const shown = asked(known);
        const { window } = applyChanges({ rows: shown, total: shown.length }, changed, filter);
        const all = new Map([...known, ...changed].map((each) => [each.id, each]));
        assert.deepEqual(window.rows, asked([...all.values()]));
        assert.equal(window.total, window.rows.length);
      },
    ),
  );
});

test('a change below the loaded part does not enter it', () => {
  const window = { rows: [row('c', 30), row('b', 20)], total: 5, next: 'b' };
  const filter = { states: ['running' as const], search: '' };
  const { window: after, unsure } = applyChanges(window, [row('a', 10)], filter);
  assert.deepEqual(after.rows, window.rows);
  assert.equal(unsure, true);
});

test('a page that overlaps adds no row twice', () => {
  const window = { rows: [row('c', 30), row('b', 20)], total: 3, next: 'b' };
  const after = addPage(window, { rows: [row('b', 20), row('a', 10)], total: 3 });
  assert.deepEqual(
    after.rows.map((each) => each.id),
    ['c', 'b', 'a'],
  );
  assert.equal(after.next, undefined);
});

test('words are found in id, command and user, whatever their case', () => {
  const filter = (search: string) => ({ states: [], search });
  assert.ok(matchesFilter(row('Train-1', 0), filter(' train ')));
  assert.ok(matchesFilter(row('x', 0), filter('ANA')));
  assert.ok(matchesFilter(row('x', 0), filter('run x')));
  assert.ok(!matchesFilter(row('x', 0), filter('y')));
});

test('rows in sight cover the window and never leave the list', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 400_000 }),
      fc.integer({ min: 1, max: 2000 }),
      fc.nat({ max: 10_000 }),
      (top, height, count) => {
        const { first, last } = rowsInSight(top, height, 34, count);
        assert.ok(first >= 0 && first <= last && last <= count);
        const visible = Math.min(count, Math.ceil((top + height) / 34));
        if (top < count * 34) assert.ok(first * 34 <= top && last >= visible);
      },
    ),
  );
});

test('a row is brought into sight with the smallest move', () => {
  assert.equal(scrollToShow(5, 0, 340, 34), 0);
  assert.equal(scrollToShow(10, 0, 340, 34), 34);
  assert.equal(scrollToShow(2, 340, 340, 34), 68);
});

test('how far a row has moved is found near its old place', () => {
  const items = ['x', 'y', 'a', 'b', 'c'];
  const key = (item: string): string => item;
  assert.equal(rowsMoved(items, key, 'b', 1), 2);
  assert.equal(rowsMoved(items, key, 'x', 2), -2);
  assert.equal(rowsMoved(items, key, 'gone', 2), 0);
});

test('nodes are filtered by group, type and words, and the fullest resource is told', () => {
  const node = (instance: string, extra: Partial<NodeAnswer> = {}): NodeAnswer => ({
    instance,
    type: 'cpu',
    kind: 'worker',
    status: 'running',
    since: 0,
    requestedAt: 0,
    total: { CPU: 8, memory: 100 },
    available: { CPU: 6, memory: 10 },
    jobs: [],
    ...extra,
  });
  const nodes = [
    node('a', { node: 'n1', zone: 'eu-1a' }),
    node('b', { status: 'setting-up' }),
    node('c', { type: 'gpu', status: 'launch-failed' }),
  ];
  const found = (filter: Partial<Parameters<typeof filterNodes>[1]>): string[] =>
    filterNodes(nodes, { groups: [], type: '', search: '', ...filter }).map((each) => each.instance);
  assert.deepEqual(found({ groups: ['pending', 'failed'] }), ['b', 'c']);
  assert.deepEqual(found({ type: 'gpu' }), ['c']);
  assert.deepEqual(found({ search: 'EU-1' }), ['a']);
  assert.deepEqual(groupCounts(nodes), { running: 1, pending: 1, stopped: 0, ending: 0, failed: 1, gone: 0 });
  assert.deepEqual(fullest(nodes[0]!), { name: 'memory', used: 90, total: 100, share: 0.9 });
  assert.equal(fullest(nodes[1]!), undefined);
});

test('an address leads back to the same place', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }), fc.string(), (path, search) => {
      const route = parseRoute(linkTo(path, { search }));
      assert.deepEqual(route.path, path);
      assert.equal(route.params.get('search') ?? '', search);
    }),
  );
  assert.deepEqual(parseRoute('#/jobs/%E0%A4%A').path, ['jobs', '%E0%A4%A']);
});
