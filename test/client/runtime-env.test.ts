import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import type { HttpClient } from '../../src/client/http.ts';
import { uploadRuntimeEnv } from '../../src/client/runtime-env.ts';

const cwd = mkdtempSync(join(tmpdir(), 'manta-client-env-'));
after(() => rmSync(cwd, { recursive: true, force: true }));

/** With a head that has every package already; those that were asked for are in `asked`. */
async function uploaded(env: Record<string, unknown>, asked: string[] = []): Promise<Record<string, unknown>> {
  const statusOf = async (_: string, path: string): Promise<number> => {
    asked.push(basename(path));
    return 200;
  };
  return uploadRuntimeEnv(env, { http: { statusOf } as unknown as HttpClient, events: silent, env: {}, cwd });
}

test('files that a runtime environment names are read here, as Ray’s client reads them', async () => {
  writeFileSync(join(cwd, 'requirements.txt'), 'a==1\n# no\n\nb\n');
  writeFileSync(join(cwd, 'environment.yml'), 'dependencies:\n- pip\n- pip: [x]\n');
  const packages = ['a==1', 'b'];
  assert.deepEqual(await uploaded({ pip: 'requirements.txt' }), { pip: packages });
  assert.deepEqual(await uploaded({ pip: { packages: 'requirements.txt', pip_check: true } }), {
    pip: { packages, pip_check: true },
  });
  assert.deepEqual(await uploaded({ conda: 'environment.yml' }), { conda: { dependencies: ['pip', { pip: ['x'] }] } });
  for (const same of [{ conda: 'by-name' }, { conda: { dependencies: [] } }, { pip: null, conda: null }])
    assert.deepEqual(await uploaded(same), same);
  writeFileSync(join(cwd, 'bad.yaml'), 'a: [');
  await assert.rejects(uploaded({ conda: 'bad.yaml' }), /bad\.yaml:\d+:\d+/);
  await assert.rejects(uploaded({ conda: 'none.yaml' }), /file not found: 'none\.yaml'/);
});

test('archives of every format are sent as they are, and other files are refused', async () => {
  for (const name of ['a.zip', 'a.tar.gz', 'a.tgz', 'a.tar.xz', 'a.tar.bz2', 'b-1-py3-none-any.whl'])
    writeFileSync(join(cwd, name), name);
  const asked: string[] = [];
  for (const name of ['a.zip', 'a.tar.gz', 'a.tgz', 'a.tar.xz']) await uploaded({ working_dir: name }, asked);
  assert.deepEqual(
    asked.map((name) => name.replace(/^_ray_pkg_[0-9a-f]{40}/, '')),
    ['.zip', '.tar.gz', '.tar.gz', '.tar.xz'],
  );
  await uploaded({ py_modules: ['b-1-py3-none-any.whl', 'a.tgz'] }, asked);
  assert.match(asked.slice(-2).join(' '), /^b-1-py3-none-any\.whl _ray_pkg_[0-9a-f]{40}\.tar\.gz$/);
  for (const name of ['a.tar.bz2', 'b-1-py3-none-any.whl'])
    await assert.rejects(
      uploaded({ working_dir: name }),
      /neither a folder nor a \.zip, \.tar\.gz, \.tgz, \.tar\.xz file/,
    );
  for (const uri of ['s3://bucket/a.zip', 'gs://bucket/a.zip', 'local:///x'])
    assert.deepEqual(await uploaded({ working_dir: uri }), { working_dir: uri });
});
