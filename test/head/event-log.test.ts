import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EventAnswer } from '../../src/api/types.ts';
import { autoscalerEvents } from '../../src/autoscaler/events.ts';
import { openDatabase } from '../../src/base/sqlite/sqlite.ts';
import { bringupEvents } from '../../src/bringup/events.ts';
import { eventMigration, openEventLog } from '../../src/head/journal/event-log.ts';
import { localEvents } from '../../src/providers/local/events.ts';

test('an event tells whom it is about as data, as it happens and when it is read again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-events-'));
  const database = openDatabase(join(folder, 'events'), [eventMigration]);
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  const log = openEventLog(
    database,
    () => 7,
    (error) => assert.fail(String(error)),
  );
  const live: EventAnswer[] = [];
  log.watch((event) => live.push(event));
  log.emit(autoscalerEvents.setupFailed, {
    instance: 'i1',
    type: 'cpu',
    reason: 'make failed',
    host: '10.0.0.2',
    failure: 'MANTA_BRINGUP_STEP_FAILED',
  });
  log.emit(bringupEvents.step, { node: 'h1', step: 'connecting' });
  log.emit(localEvents.passedOver, { host: 'h2', reason: 'its disk is full', seconds: 15 });
  await log.close();
  const told = log.last(10);
  assert.deepEqual(live, told);
  assert.deepEqual(
    told.map(({ seq: _seq, at: _at, code: _code, level: _level, text: _text, ...about }) => about),
    [
      { instance: 'i1', type: 'cpu', host: '10.0.0.2', failure: 'MANTA_BRINGUP_STEP_FAILED' },
      { node: 'h1' },
      { host: 'h2' },
    ],
  );
});
