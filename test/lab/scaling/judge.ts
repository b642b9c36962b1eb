import assert from 'node:assert/strict';
import type { EventAnswer } from '../../../src/api/types.ts';
import type { Scenario } from './scenario.ts';

/** Holds what the cluster has told to what was to come of it. */
export function judge({ outcome }: Scenario, events: readonly EventAnswer[]): void {
  const told = eventLines(events);
  const launches = events.filter(isLaunch).flatMap(({ text }) => {
    const [, count, type] = /^requesting (\d+) instances? of (\S+)/.exec(text)!;
    return [{ count: Number(count), type: type! }];
  });
  const asked = launches.reduce((sum, { count }) => sum + count, 0);
  assert.equal(asked, outcome.asked, `instances that were asked for\n${told}`);
  if (outcome.launches !== undefined) assert.equal(launches.length, outcome.launches, `launches\n${told}`);
  if (outcome.types !== undefined)
    assert.deepEqual([...new Set(launches.map(({ type }) => type))].sort(), [...outcome.types].sort(), told);
  for (const words of outcome.tells ?? []) assert.match(told, words);
  const instances = new Set(
    events.flatMap(({ code, instance, type }) =>
      code.startsWith('MANTA_AUTOSCALER_') && instance !== undefined && type !== 'head' ? [instance] : [],
    ),
  );
  const drained = new Set(events.flatMap(({ text, instance }) => (text.startsWith('draining ') ? [instance] : [])));
  assert.equal(
    [...instances].filter((id) => !drained.has(id)).length,
    outcome.undrained ?? 0,
    `ended without a drain\n${told}`,
  );
  assert.doesNotMatch(told, /MANTA_AUTOSCALER_ISOLATED|a pass failed/);
}

export const isLaunch = ({ code }: EventAnswer): boolean => code === 'MANTA_AUTOSCALER_LAUNCHING';

export const eventLines = (events: readonly EventAnswer[]): string =>
  events.map(({ at, code, text }) => `${new Date(at).toISOString().slice(11, 23)} ${code} ${text}`).join('\n');
