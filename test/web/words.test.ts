import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountText, bytesText, counted, moneyText, resourcesText, shareText } from '../../src/web/words/amounts.ts';
import { ansiSpans, plainText } from '../../src/web/words/ansi.ts';
import { pendingCount, requestText, waitingTitle } from '../../src/web/words/demand.ts';
import { durationText, relativeTime } from '../../src/web/words/time.ts';

const now = 1_700_000_000_000;

test('times are told in one unit, lengths in at most two', () => {
  const ago = [0, 1500, 12_000, 90_000, 3_700_000, 86_400_000, 300_000_000].map((away) =>
    relativeTime(now - away, now),
  );
  assert.deepEqual(ago, ['now', 'now', '12 s ago', '1 min ago', '1 h ago', '24 h ago', '3 d ago']);
  assert.equal(relativeTime(now + 95_000, now), 'in 1 min');
  const lengths = [0, 440, 12_900, 185_000, 7_800_000, 100_000_000, -5].map(durationText);
  assert.deepEqual(lengths, ['0.0 s', '0.4 s', '12 s', '3 min 05 s', '2 h 10 min', '1 d 3 h', '0.0 s']);
});

test('amounts have their unit and resources their order', () => {
  assert.equal(bytesText(0), '0 B');
  assert.equal(bytesText(1536), '1.5 KiB');
  assert.equal(bytesText(8 * 1024 ** 3), '8 GiB');
  assert.equal(amountText('CPU', 0.25), '0.25');
  assert.equal(shareText('memory', 1024 ** 3, 4 * 1024 ** 3), '1 GiB of 4 GiB');
  assert.equal(
    resourcesText({ zeta: 2, memory: 1024 ** 3, GPU: 1, CPU: 4, none: 0 }),
    '4 CPU, 1 GPU, 1 GiB memory, 2 zeta',
  );
  assert.equal(resourcesText({}), 'nothing');
  assert.equal(counted(1, 'node'), '1 node');
  assert.equal(counted(1200, 'match', 'matches'), '1,200 matches');
  assert.equal(moneyText(1111.7), '$1,111.70');
  assert.equal(moneyText(0.0416), '$0.0416');
  assert.equal(moneyText(2, 'EUR'), '€2.00');
});

test('demand is counted by parts and named by what it asks for', () => {
  const request = {
    resources: { CPU: 2 },
    selectors: [[{ label: 'zone', operator: 'in' as const, values: ['a', 'b'] }]],
    placement: [],
  };
  assert.equal(requestText(request), '2 CPU where zone in a|b');
  const demand = { tasks: [{ request, count: 5 }], gangs: [{ id: 'g', requests: [request, request] }], standing: [] };
  assert.equal(pendingCount(demand), 7);
  assert.equal(waitingTitle({ demand: { kind: 'min-workers', type: 'cpu', count: 2 } }), '2 × cpu (min_workers)');
});

test('terminal colours become classes, other sequences and control characters go', () => {
  assert.deepEqual(ansiSpans('\u001b[1;31mbad\u001b[0m ok\u001b[2K\u001b]0;title\u0007!'), [
    { text: 'bad', classes: 'ansi-red ansi-bold' },
    { text: ' ok', classes: '' },
    { text: '!', classes: '' },
  ]);
  assert.deepEqual(ansiSpans('\u001b[38;5;196mx\u001b[92my'), [
    { text: 'x', classes: '' },
    { text: 'y', classes: 'ansi-green' },
  ]);
  assert.equal(plainText('\u001b[33mwarn\u001b[0m\ttab\r'), 'warn\ttab');
});
