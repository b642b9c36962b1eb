import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlainMap } from '../../../src/core/spec/cluster.ts';
import { prepareAsRay } from '../../../src/core/spec/ray/prepare.ts';
import { providers } from '../../../src/providers/table.ts';
import { corpus, noCorpus, open } from './cluster-text.ts';

const files = corpus();
const skip = files === undefined ? noCorpus : false;
const verdicts = (files ?? []).map((file) => ({ ...file, ...open(file.bytes.toString()) }));
const errorsOf = (verdict: (typeof verdicts)[number]): string[] =>
  verdict.problems.filter((problem) => problem.severity === 'error').map((problem) => problem.code);
/** Ray does not look at members; clouds ignore or refuse them when they are asked. */
const isMember = (code: string): boolean => /^MANTA_SPEC_(?:AWS|GCP)_(?:UNKNOWN_MEMBER|MEMBER_TYPE)$/.test(code);
const onlyPlaceholders = (verdict: (typeof verdicts)[number]): boolean =>
  errorsOf(verdict).every((code) => code === 'MANTA_SPEC_PLACEHOLDER' || isMember(code));

test('every real file that Ray accepts resolves, with nothing against it but placeholders and what clouds do not take', {
  skip,
}, () => {
  for (const verdict of verdicts.filter(({ ray }) => ray === 'ACCEPT')) {
    assert.ok(verdict.spec, `${verdict.name}: ${errorsOf(verdict).join()}`);
    assert.ok(onlyPlaceholders(verdict), `${verdict.name}: ${errorsOf(verdict).join()}`);
  }
});

/** Files of providers that are gone, of templates with a placeholder for a number, and of a test of unknown keys. */
const beyondHelp = ['MANTA_SPEC_PROVIDER_REMOVED', 'MANTA_SPEC_PLACEHOLDER', 'MANTA_SPEC_UNKNOWN_KEY'];

test('every real legacy file resolves, unless its provider is gone or it was never finished', { skip }, () => {
  const legacy = verdicts.filter(({ era }) => era === 'legacy');
  for (const verdict of legacy.filter(({ spec }) => spec === undefined)) {
    assert.ok(
      errorsOf(verdict).some((code) => beyondHelp.includes(code)),
      `${verdict.name}: ${errorsOf(verdict).join()}`,
    );
  }
  for (const verdict of legacy.filter(({ spec }) => spec !== undefined)) {
    assert.ok(onlyPlaceholders(verdict), `${verdict.name}: ${errorsOf(verdict).join()}`);
  }
});

test('few real files have members that their cloud does not take', { skip }, () => {
  const wrong = verdicts.filter((verdict) => errorsOf(verdict).some(isMember)).map(({ name }) => name);
  assert.deepEqual(wrong.sort(), [
    'aws__legacy__ray__lm-cluster__2023-02.yaml',
    'aws__legacy__ray__test_no_head__2024-06.yaml',
    'aws__legacy__ray__test_no_workers__2024-06.yaml',
    'aws__legacy__terapipe__cluster-template__2020-10.yaml',
    'aws__modern__ray__example-gpu-docker__2023-02.yaml',
    'aws__transitional__ray__development-example__2022-08.yaml',
    'aws__transitional__ray__example-ml__2023-02.yaml',
    'gcp-tpu__defaults__muzero-general__defaults__2021-07-2.yaml',
    'gcp-tpu__defaults__muzero-general__defaults__2021-07.yaml',
  ]);
});

test('every real file that does not resolve is told why, where and what to do', { skip }, () => {
  for (const { name, spec, problems } of verdicts) {
    if (spec !== undefined) continue;
    assert.ok(
      problems.some((problem) => problem.severity === 'error'),
      name,
    );
    for (const { at, message, hint } of problems) {
      assert.ok(at.line >= 1 && at.column >= 1, name);
      assert.doesNotMatch(message, /undefined|\[object|NaN/, name);
      assert.ok(hint !== undefined && !/undefined|\[object|NaN/.test(hint), `${name}: ${message}: ${hint}`);
    }
  }
});

test('every template that is not YAML yet is recognised, with its placeholders', { skip }, () => {
  for (const { name, problems } of verdicts.filter(({ era }) => era === 'template')) {
    assert.equal(
      problems[0]?.code === 'MANTA_SPEC_TEMPLATE' || problems.some(({ code }) => code === 'MANTA_SPEC_TEMPLATE'),
      true,
      name,
    );
  }
});

test('most real modern files that Ray accepts get two warnings at most', { skip }, () => {
  const modern = verdicts.filter(({ era, ray }) => era === 'modern' && ray === 'ACCEPT');
  const quiet = modern.filter(
    ({ problems }) => problems.filter((problem) => problem.severity === 'warning').length <= 2,
  );
  assert.ok(quiet.length / modern.length > 0.9, `${quiet.length} of ${modern.length}`);
});

test('every real file that Ray accepts resolves to what Ray makes of it', { skip }, () => {
  for (const { name, ray, source, spec, problems } of verdicts) {
    if (ray !== 'ACCEPT' || source === undefined || spec === undefined) continue;
    // Ray counts such a head as a worker, and then fails an assertion.
    if (problems.some(({ code }) => code === 'MANTA_SPEC_HEAD_IS_WORKER')) continue;
    const prepared = prepareAsRay(source, providers);
    assert.ok('config' in prepared, name);
    const { config } = prepared;
    assert.equal(spec.name, config.cluster_name, name);
    assert.equal(spec.headType, config.head_node_type, name);
    assert.equal(spec.upscalingSpeed, config.upscaling_speed ?? 1, name);
    assert.equal(spec.idleTimeout, Number(config.idle_timeout_minutes ?? 5) * 60_000, name);
    assert.deepEqual(spec.head.setup, config.head_setup_commands, name);
    assert.deepEqual(spec.head.start, config.head_start_ray_commands, name);
    assert.deepEqual(
      spec.files.mounts,
      Object.entries(config.file_mounts as PlainMap).map(([remote, local]) => ({ remote, local })),
      name,
    );
    const types = config.available_node_types as Record<string, PlainMap>;
    assert.deepEqual(
      spec.nodeTypes.map((type) => type.name),
      Object.keys(types),
      name,
    );
    for (const type of spec.nodeTypes) {
      const asRay = types[type.name] as PlainMap;
      const limit = Number(asRay.max_workers);
      assert.equal(type.maxWorkers, limit * type.hostsPerSlice, `${name} ${type.name}`);
      assert.equal(
        type.minWorkers,
        Math.min(Number(asRay.min_workers), limit) * type.hostsPerSlice,
        `${name} ${type.name}`,
      );
      assert.deepEqual(type.launchConfig, asRay.node_config ?? {}, `${name} ${type.name}`);
      assert.deepEqual(
        type.worker.setup,
        asRay.worker_setup_commands ?? config.worker_setup_commands,
        `${name} ${type.name}`,
      );
      if (type.resourcesKnown) assert.deepEqual(type.resources, asRay.resources, `${name} ${type.name}`);
    }
  }
});
