import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulateCommands } from '../../src/cli/commands/simulate/declaration.ts';
import { demoScenario } from '../../src/simulation/demo.ts';
import { simulationErrors } from '../../src/simulation/errors.ts';
import { seededRandom } from '../../src/simulation/random.ts';
import { loadWorkload } from '../../src/simulation/scenario/load-workload.ts';
import { readScenario } from '../../src/simulation/scenario/read-scenario.ts';
import { arrivals, submissions } from '../../src/simulation/scenario/scenario.ts';
import { parseDuration } from '../../src/simulation/scenario/scenario-fields.ts';
import { publishedWorkloads } from '../../src/simulation/workloads/published.ts';
import { fc } from '../property.ts';
import { faultProfileNames } from './run-seed.ts';
import { scenarioOf, smallCluster } from './worlds.ts';

test('durations are read with their units', () => {
  assert.equal(parseDuration('90s'), 90_000);
  assert.equal(parseDuration('1h30m'), 5_400_000);
  assert.equal(parseDuration('250ms'), 250);
  assert.equal(parseDuration('1.5m'), 90_000);
  for (const wrong of ['', 's', '5 m', '-3s', '5x', '1h30', `${'9'.repeat(50)}s`])
    assert.equal(parseDuration(wrong), undefined);
});

test('every problem of a workload is found, each with its place', () => {
  const result = readScenario({
    cluster: { types: { head: { resources: {} }, w: { resources: { CPU: 'many' }, zoness: [] } } },
    work: [
      { tasks: 3, needs: { CPU: 1 }, duration: '5 parsecs' },
      { foo: 1 },
      { gangs: 1.5, bundles: {}, duration: '1s' },
    ],
  });
  assert.ok('problems' in result);
  assert.deepEqual(result.problems.map((problem) => problem.path.join('.')).sort(), [
    'cluster.types.w.resources.CPU',
    'cluster.types.w.zoness',
    'work.0.duration',
    'work.1',
    'work.2.bundles',
    'work.2.gangs',
  ]);
});

test('a bad workload file is refused with file, line and column', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'manta-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'work.yaml');
  await writeFile(path, 'work:\n  - tasks: 3\n    needs: {CPU: 1}\n    duration: soon\n');
  await assert.rejects(loadWorkload(path, 'work.yaml', scenarioOf(smallCluster).spec), (error) => {
    assert.ok(simulationErrors.BadWorkload.is(error));
    assert.match(error.message, /^work\.yaml:4:15: expected a duration, found 'soon'/);
    return true;
  });
  await writeFile(path, 'work: [\n');
  await assert.rejects(loadWorkload(path, 'work.yaml'), (error: unknown) => simulationErrors.BadWorkload.is(error));
  await assert.rejects(loadWorkload(join(folder, 'none.yaml'), 'none.yaml'), /no such file/);
});

test('types are taken in the order of the file, also where their names look like numbers', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'manta-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'work.yaml');
  await writeFile(
    path,
    'cluster: {types: {small: {resources: {}}, 16: {resources: {}}, 4: {resources: {}}}}\nwork: []\n',
  );
  const { spec } = await loadWorkload(path, 'work.yaml');
  assert.equal(spec.headType, 'small');
  assert.deepEqual(
    spec.nodeTypes.map((type) => type.name),
    ['small', '16', '4'],
  );
});

test('the workload file that docs/simulation.md shows is one', async (t) => {
  const page = await readFile(new URL('../../docs/simulation.md', import.meta.url), 'utf8');
  const example = /^```yaml\n([^]*?)^```/m.exec(page)?.[1];
  assert.ok(example !== undefined);
  const folder = await mkdtemp(join(tmpdir(), 'manta-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'example.yaml'), example);
  const scenario = await loadWorkload(join(folder, 'example.yaml'), 'example.yaml');
  assert.deepEqual(
    scenario.work.map((item) => item.kind),
    ['tasks', 'actors', 'gangs', 'standing'],
  );
});

test('whatever a workload file holds, it is read or refused, never crashed on', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const result = readScenario(value);
      assert.ok('scenario' in result || result.problems.length > 0);
    }),
    { numRuns: 500 },
  );
});

test('every published workload and the demo can be read, and their names are their own', () => {
  for (const file of [...publishedWorkloads, demoScenario]) scenarioOf(file);
  assert.ok(publishedWorkloads.length >= 12);
  assert.equal(new Set(publishedWorkloads.map((file) => file.name)).size, publishedWorkloads.length);
});

test('drivers submit the same work in every run of a seed', () => {
  const { work } = scenarioOf(publishedWorkloads[0] ?? smallCluster);
  assert.deepEqual(submissions(work, seededRandom(3, 'work')), submissions(work, seededRandom(3, 'work')));
});

test('a ramp arrives late, a wave in the middle, and all within the span', () => {
  const mean = (shape: 'even' | 'ramp' | 'wave'): number => {
    const times = arrivals({ at: 1_000, over: 600, shape, repeatEvery: 0, times: 1 }, 2_000, seededRandom(1));
    assert.ok(times.every((time) => time >= 1_000 && time <= 1_600));
    return times.reduce((sum, time) => sum + time, 0) / times.length;
  };
  assert.ok(Math.abs(mean('even') - 1_300) < 20);
  assert.ok(Math.abs(mean('wave') - 1_300) < 20);
  assert.ok(Math.abs(mean('ramp') - 1_400) < 20);
});

test('the command offers every profile of faults that there is', () => {
  const option = simulateCommands[0]?.options.find(({ name }) => name === 'faults');
  assert.deepEqual(option?.choices, faultProfileNames);
});
