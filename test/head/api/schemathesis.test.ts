// needs: cluster, schemathesis

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ensureSchemathesis } from '../../../scripts/schemathesis-venv.ts';
import { TestCluster, TestHome, workersYaml } from '../test-cluster.ts';

const hooks = fileURLToPath(new URL('schemathesis_hooks.py', import.meta.url));
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];
/** They go on for as long as somebody listens. */
const streams = '/(stream|follow)$';

describe('a running mantad answers as its own description says', () => {
  let program = '';
  let home: TestHome;
  let cluster: TestCluster;
  const ends: (() => Promise<void>)[] = [];
  before(async () => {
    program = await ensureSchemathesis((line) => process.stderr.write(`${line}\n`));
    home = new TestHome({ after: (end) => ends.push(end) });
    cluster = await TestCluster.up(home, workersYaml({ cpus: 1, max: 2, extra: 'manta: {max_lifetime: 10h}' }));
  });
  after(async () => {
    for (const end of ends) await end();
  });

  const run = (token: string): Promise<{ code: number; said: string }> => {
    const folder = mkdtempSync(join(tmpdir(), 'manta-schemathesis-'));
    const url = `${cluster.url}/api/manta/v1`;
    const words = [
      'run',
      `${url}/openapi.json`,
      ...['--url', url, '--header', `Authorization: Bearer ${token}`],
      ...['--checks', checks.join(','), '--exclude-path-regex', streams],
      ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '15', '--workers', '2'],
      ...['--request-timeout', '30', '--continue-on-failure', '--no-color'],
    ];
    const env = { ...process.env, SCHEMATHESIS_HOOKS: hooks };
    return new Promise((resolve) => {
      execFile(program, words, { cwd: folder, env, timeout: 300_000, maxBuffer: 64 << 20 }, (error, out, err) => {
        rmSync(folder, { recursive: true, force: true });
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), said: `${out}${err}` });
      });
    });
  };

  test('to its owner', async () => {
    const { code, said } = await run(cluster.token);
    assert.equal(code, 0, said);
  });

  test('to a user who is no administrator', async () => {
    const added = await home.run('--json', 'user', 'add', 'plain');
    assert.equal(added.code, 0, added.err);
    const { code, said } = await run((JSON.parse(added.out) as { token: string }).token);
    assert.equal(code, 0, said);
  });
});
