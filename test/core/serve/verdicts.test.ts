// needs: ray-client

/** Serve configs are judged as `ServeDeploySchema` of real Ray judges them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ensureRay } from '../../../scripts/ray-venv.ts';
import { readServeConfig } from '../../../src/core/serve/config.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

type Verdict = 'taken' | 'refused' | 'unknown';

let python: string;
before(async () => {
  python = await ensureRay();
});

function realVerdicts(texts: readonly string[]): readonly Verdict[] {
  const input = JSON.stringify(texts);
  const { status, stdout, stderr } = spawnSync(python, [here('serve_judge.py')], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Verdict[];
}

const ours = (text: string): Verdict =>
  readServeConfig(text, 'python', { file: 'f' }).findings.some(({ severity }) => severity === 'error')
    ? 'refused'
    : 'taken';

const app = (more: string): string => `applications: [{import_path: "a:b", ${more}}]`;
const deployment = (more: string): string => app(`deployments: [{name: d, ${more}}]`);
const address = (text: string): string => app(`runtime_env: {working_dir: ${text}}`);

test('what Ray takes is taken, and what it refuses is refused', () => {
  const values = [
    '1',
    '0',
    '-1',
    '2.0',
    '2.5',
    '"3"',
    '"three"',
    'auto',
    'null',
    'true',
    '[]',
    '{}',
    'on',
    '1e3',
    '.inf',
  ];
  const keys = ['num_replicas', 'max_ongoing_requests', 'max_queued_requests', 'user_config', 'autoscaling_config'];
  const more = [
    'health_check_period_s',
    'graceful_shutdown_timeout_s',
    'rolling_update_percentage',
    'max_surge_percent',
  ];
  const others = ['ray_actor_options', 'placement_group_bundles', 'max_replicas_per_node', 'logging_config', 'name'];
  const texts = [
    ...[...keys, ...more, ...others].flatMap((key) => values.map((value) => deployment(`${key}: ${value}`))),
    ...[
      'name',
      'route_prefix',
      'args',
      'external_scaler_enabled',
      'deployments',
      'host',
      'port',
      'logging_config',
    ].flatMap((key) => values.map((value) => app(`${key}: ${value}`))),
    ...['proxy_location', 'http_options', 'target_capacity', 'grpc_options', 'unknown'].flatMap((key) =>
      values.map((value) => `applications: []\n${key}: ${value}`),
    ),
    ...['a', 'a.b', 'a:b:c', ':b', 'a:', '.b', 'a.', 'a..b', 'a:b.c'].map(
      (path) => `applications: [{import_path: "${path}"}]`,
    ),
    ...[
      '.',
      '/tmp',
      's3://b/a.zip',
      'https://a/b.zip',
      'ftp://a',
      'local:///a',
      'local://a',
      'local:///a.zip',
      'gcs://x',
      'HTTP://a',
      'C:/x',
      'file:///a.zip',
      '3',
      'null',
    ].map(address),
    deployment('num_replicas: 2, autoscaling_config: {min_replicas: 1}'),
    deployment('num_replicas: auto, autoscaling_config: {min_replicas: 1, max_replicas: 3}'),
    deployment('max_replicas_per_node: 1, placement_group_bundles: [{CPU: 1}]'),
    deployment('placement_group_bundle_label_selector: [{a: b}]'),
    deployment(
      'placement_group_bundles: [{CPU: 1}, {CPU: 1}], placement_group_bundle_label_selector: [{a: b}, {a: b}, {a: b}]',
    ),
    deployment('gang_scheduling_config: {gang_size: 2}, num_replicas: 3'),
    deployment('gang_scheduling_config: {gang_size: 2}, num_replicas: 4'),
    deployment('gang_scheduling_config: {gang_size: 0}'),
    deployment('backpressure_config: {status_code: 429}'),
    deployment('backpressure_config: {status: 429}'),
    deployment('logging_config: {log_level: LOUD}'),
    deployment('logging_config: {encoding: JSON, log_level: DEBUG}'),
    app('external_scaler_enabled: true, deployments: [{name: d, num_replicas: auto}]'),
    'applications: [{import_path: "a:b", name: x}, {import_path: "a:b", name: x, route_prefix: /y}]',
    'applications: [{import_path: "a:b", name: x}, {import_path: "a:b", name: y}]',
    'applications: [{import_path: "a:b", name: x, route_prefix: null}, {import_path: "a:b", name: y, route_prefix: null}]',
    'applications: [{}]',
    'import_path: a:b',
    'applications:',
    '- a',
    '',
    'applications: [{import_path: "a:b", name: ""}]',
    'applications: []\nhttp_options: {ssl_certfile: a}',
    'applications: []\nhttp_options: {ssl_certfile: a, ssl_keyfile: b}',
    'applications: []\ncontroller_options: {runtime_env: {pip: []}}',
    'applications: []\ntracing_config: {sampling_ratio: 2}',
  ];
  const real = realVerdicts(texts);
  const wrong = texts.flatMap((text, at) =>
    real[at] === ours(text) ? [] : [`${text}: Ray ${real[at]}, Manta ${ours(text)}`],
  );
  assert.deepEqual(wrong, []);
});

const corpus = here('../../../../shared/corpus/serve');

test('configs that people really have get the verdict of Ray', {
  skip: existsSync(corpus) ? false : 'the shared data is missing',
}, () => {
  const files = readdirSync(corpus).filter((file) => /\.ya?ml$/.test(file));
  const texts = files.map((file) => readFileSync(join(corpus, file), 'utf8'));
  const real = realVerdicts(texts);
  const wrong = files.filter((_, at) => real[at] !== 'unknown' && real[at] !== ours(texts[at]!));
  assert.deepEqual(wrong, []);
  assert.deepEqual([files.length, real.filter((each) => each === 'refused').length], [106, 24]);
});
