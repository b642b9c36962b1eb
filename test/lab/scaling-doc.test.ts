import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { scenarios } from './scaling/scenarios.ts';
import { scenarioTable } from './scaling/table.ts';

test('docs/scaling-scenarios.md lists every scaling scenario, and where it is played', () => {
  const text = readFileSync(new URL('../../docs/scaling-scenarios.md', import.meta.url), 'utf8');
  const table = scenarioTable(scenarios);
  assert.ok(text.includes(table), `the table must be\n${table}`);
  assert.ok(scenarios.length >= 40);
  assert.equal(new Set(scenarios.map(({ name }) => name)).size, scenarios.length, 'names tell them apart');
});
