// needs: xz
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { writeZip } from '../../src/base/archive/archive.ts';
import { openDatabase } from '../../src/base/sqlite/sqlite.ts';
import { embeddedEnvironments } from '../../src/engines/embedded/environments.ts';
import { jobErrors } from '../../src/jobs/errors.ts';
import { PackageStore, type PackageStoreOptions, packageName } from '../../src/jobs/packages/packages.ts';
import { isFetchedHere, maskRuntimeEnv, packageUris, readRuntimeEnv } from '../../src/jobs/packages/runtime-env.ts';
import { neededPackages, sweep } from '../../src/jobs/queue/retention.ts';
import { jobsSchema } from '../../src/jobs/queue/schema.ts';
import { patiently, until } from '../contract/waiting.ts';
import { archiveServer } from './archive-server.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock } from './manual-clock.ts';
import { makeBed } from './queue-bed.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-packages-'));
after(() => rmSync(root, { recursive: true, force: true }));
const signal = new AbortController().signal;
let count = 0;

async function storeWith(options: Partial<PackageStoreOptions> = {}) {
  const folder = join(root, `store${count++}`);
  const clock = new ManualClock();
  const database = openDatabase(join(root, `db${count++}`), [jobsSchema]);
  return { folder, clock, packages: new PackageStore({ database, folder, clock, ...options }) };
}

async function zipOf(content: string): Promise<Buffer> {
  const source = join(root, `source${count}`);
  const zip = join(root, `zip${count++}`);
  writeFileSync(source, content);
  await writeZip([{ name: 'top/file.txt', path: source, mode: 0o644 }], zip);
  return readFileSync(zip);
}

test('content is stored once, names belong to their owner', async () => {
  const { packages, folder } = await storeWith();
  const zip = await zipOf('hello');
  const first = await packages.put('ada', 'a.zip', Readable.from([zip.subarray(0, 20), zip.subarray(20)]));
  const second = await packages.put('bob', 'b.zip', Readable.from([zip]));
  assert.equal(first.sha256, second.sha256);
  assert.equal(readdirSync(join(folder, 'blobs')).length, 1);
  assert.deepEqual([await packages.has('ada', 'a.zip'), await packages.has('bob', 'a.zip')], [true, false]);
  const paths = await Promise.all([
    packages.open('ada', 'gcs://a.zip', signal),
    packages.open('bob', 'gcs://b.zip', signal),
  ]);
  assert.equal(paths[0], paths[1]);
  assert.equal(readFileSync(join(paths[0], 'top/file.txt'), 'utf8'), 'hello');
  await assert.rejects(packages.open('bob', 'gcs://a.zip', signal), (error) => jobErrors.PackageMissing.is(error));
});

test('a wheel that was cut short when it was put under its name is not used', async () => {
  const { packages, folder } = await storeWith();
  const { sha256 } = await packages.put('ada', 'a-1-py3-none-any.whl', Readable.from(['all of the wheel']));
  mkdirSync(join(folder, 'wheels', sha256), { recursive: true });
  writeFileSync(join(folder, 'wheels', sha256, 'a-1-py3-none-any.whl'), 'all of');
  const path = await packages.open('ada', 'gcs://a-1-py3-none-any.whl', signal);
  assert.equal(readFileSync(path, 'utf8'), 'all of the wheel');
});

test('an upload that breaks off or is too large leaves nothing', async () => {
  const { packages, folder } = await storeWith({ limits: { uploadBytes: 100 } });
  await assert.rejects(packages.put('ada', 'a.zip', Readable.from([Buffer.alloc(101)])), (error) =>
    jobErrors.PackageTooLarge.is(error),
  );
  const broken = new Readable({
    read() {
      this.push('half');
      this.destroy(new Error('gone'));
    },
  });
  await assert.rejects(packages.put('ada', 'a.zip', broken), /gone/);
  assert.deepEqual(readdirSync(join(folder, 'blobs')), []);
  assert.equal(await packages.has('ada', 'a.zip'), false);
});

test('a remote archive with one folder at its top means that folder', async () => {
  const zip = await zipOf('remote');
  const server = await archiveServer((answer) => answer.end(zip));
  const { packages, clock } = await storeWith({ request: server.request });
  const uri = `${server.url}/code.zip?x=1`;
  const path = await packages.open('ada', uri, signal);
  await server.close();
  assert.equal(readFileSync(join(path, 'file.txt'), 'utf8'), 'remote');
  await packages.sweep(new Set());
  assert.ok(existsSync(path));
  clock.set(clock.now() + 86_400_001);
  await packages.sweep(new Set([`ada/${packageName(uri)}`]));
  assert.ok(existsSync(path), 'a live job needs it');
  await packages.sweep(new Set());
  assert.ok(!existsSync(path));
});

test('archives of every format are unpacked, and names without one are none', async (t) => {
  const source = join(root, `source${count++}`);
  mkdirSync(join(source, 'top'), { recursive: true });
  writeFileSync(join(source, 'top/file.txt'), 'packed');
  const pack = (mode: string): Buffer => {
    const file = join(root, `tar${count++}`);
    execFileSync('tar', [mode, file, '-C', source, 'top']);
    return readFileSync(file);
  };
  const bytes = {
    '.tar.gz': pack('-czf'),
    '.tgz': pack('-czf'),
    '.tar.xz': pack('-cJf'),
    '.zip': await zipOf('packed'),
  };
  for (const [ending, archive] of Object.entries(bytes)) {
    const server = await archiveServer((answer) => answer.end(archive));
    t.after(() => server.close());
    const { packages, clock } = await storeWith({ request: server.request });
    await packages.put('ada', `_ray_pkg_1${ending}`, Readable.from([archive]));
    const path = await packages.open('ada', `gcs://_ray_pkg_1${ending}`, signal);
    assert.equal(readFileSync(join(path, 'top/file.txt'), 'utf8'), 'packed', ending);
    const url = `${server.url}/code${ending}?x=1`;
    const remote = await packages.open('ada', url, signal);
    assert.equal(readFileSync(join(remote, 'file.txt'), 'utf8'), 'packed', ending);
    clock.set(clock.now() + 86_400_001);
    await packages.sweep(new Set([`ada/${packageName(url)}`]));
    assert.ok(existsSync(remote), 'a live job needs it');
  }
  const { packages } = await storeWith();
  for (const name of ['a.tar', 'a.tar.bz2', 'a.gz', 'a.xz', 'a', '.tar.gz', '../a.tgz'])
    await assert.rejects(packages.put('ada', name, Readable.from(['x'])), (error) => jobErrors.PackageName.is(error));
});

test('packages that no live job needs go after a while, others stay', async () => {
  const { packages, clock, folder } = await storeWith();
  await packages.put('ada', 'needed.zip', Readable.from([await zipOf('1')]));
  await packages.put('ada', 'spare.zip', Readable.from([await zipOf('2')]));
  clock.set(clock.now() + 86_400_001);
  await packages.sweep(new Set(['ada/needed.zip']));
  assert.deepEqual([await packages.has('ada', 'needed.zip'), await packages.has('ada', 'spare.zip')], [true, false]);
  assert.equal(readdirSync(join(folder, 'blobs')).length, 1);
});

test('packages give way when there are too many bytes, least recently used first', async () => {
  const { packages, clock } = await storeWith({ limits: { keepBytes: 300 } });
  for (const name of ['a', 'b', 'c']) {
    await packages.put('ada', `${name}.zip`, Readable.from([await zipOf(name)]));
    clock.set(clock.now() + 1_000);
  }
  await packages.sweep(new Set());
  assert.deepEqual([await packages.has('ada', 'a.zip'), await packages.has('ada', 'c.zip')], [false, true]);
});

test('retention drops the oldest finished jobs with their output, and never one that is needed', async () => {
  const clock = new ManualClock();
  const runner = new FakeRunner(clock, 100);
  const bed = await makeBed({ clock, runner });
  for (const id of ['a', 'b', 'c', 'd'])
    await bed.queue.submit({ id, user: 'ada', entrypoint: 'true', resources: { CPU: 1 } });
  await bed.queue.submit({
    id: 'live',
    user: 'ada',
    entrypoint: 'true',
    dependsOn: ['a'],
    startAfter: clock.now() + 1e9,
    runtimeEnv: { working_dir: 'gcs://w.zip' },
  });
  await until('all run', () => runner.orders.length === 4);
  for (const id of ['a', 'b', 'c', 'd']) {
    const over = bed.queue.wait(id, patiently());
    runner.finish(`${id}.1`, 'succeeded', 0, 'output');
    await over;
    clock.set(clock.now() + 1_000);
  }
  assert.deepEqual([...neededPackages(bed.store)], ['ada/w.zip']);
  await sweep({ ...bed, clock, limits: { finishedJobs: 1 } });
  assert.deepEqual([...bed.store.jobs.keys()], ['a', 'd', 'live']);
  assert.ok(!existsSync(bed.logs.folder('b', 1)) && existsSync(bed.logs.folder('d', 1)));
  await bed.remove();
});

test('retention leaves a job alone that is retried meanwhile', async () => {
  const clock = new ManualClock();
  const runner = new FakeRunner(clock, 100);
  const bed = await makeBed({ clock, runner });
  await bed.queue.submit({ id: 'a', user: 'ada', entrypoint: 'true', resources: { CPU: 1 } });
  await until('it runs', () => runner.orders.length === 1);
  const over = bed.queue.wait('a', patiently());
  runner.finish('a.1', 'succeeded', 0, 'output');
  await over;
  const retried = bed.queue.retry('a');
  await sweep({ ...bed, clock, limits: { finishedJobs: 0 } });
  await retried;
  assert.deepEqual([...bed.store.jobs.keys()], ['a']);
  assert.ok(existsSync(bed.logs.folder('a', 1)));
  await bed.remove();
});

test('a wheel from an address has the name that pip reads', async (t) => {
  const server = await archiveServer((answer) => answer.end('wheel'));
  t.after(() => server.close());
  const { packages } = await storeWith({ request: server.request });
  const path = await packages.open('ada', `${server.url}/w/a-1.0%2Bcpu-py3-none-any.whl?x=1`, signal);
  assert.equal(basename(path), 'a-1.0+cpu-py3-none-any.whl');
});

test('a runtime environment is read with the words of its problem', () => {
  const env = readRuntimeEnv(
    {
      env_vars: { A: 'b' },
      working_dir: 'gcs://w.tar.xz',
      py_modules: ['gcs://m.zip', 'gcs://n.tgz', 'https://x.invalid/p.whl?v=1'],
      pip: { packages: ['requests==2'], pip_check: true },
      excludes: ['x'],
      config: { setup_timeout_seconds: 7, eager_install: true, log_files: [] },
      conda: null,
    },
    embeddedEnvironments,
  );
  assert.deepEqual(env, {
    envVars: { A: 'b' },
    workingDir: 'gcs://w.tar.xz',
    pyModules: ['gcs://m.zip', 'gcs://n.tgz', 'https://x.invalid/p.whl?v=1'],
    setup: [{ kind: 'pip', packages: ['requests==2'], check: true }],
    setupTimeout: 7_000,
    rest: {},
  });
  assert.deepEqual(readRuntimeEnv({ uv: { packages: ['a'], uv_check: false } }, embeddedEnvironments).setup, [
    { kind: 'uv', packages: ['a'] },
  ]);
  const problems: [Record<string, unknown>, RegExp][] = [
    [{ conda: 'x' }, /\['conda'\] is not supported by this cluster; supported: env_vars, /],
    [{ image_uri: 'x' }, /\['image_uri'\] is not supported/],
    [{ nsight: 'default' }, /\['nsight'\] is not supported/],
    [{ worker_process_setup_hook: 'x' }, /\['worker_process_setup_hook'\] is not supported/],
    [{ constructor: { name: 'x' } }, /\['constructor'\] is not supported/],
    [{ working_dir: '/home/me' }, /uploaded by the client/],
    [{ working_dir: 's3://b/x.zip' }, /nor an https/],
    [{ working_dir: 'gcs://x.whl' }, /takes \.zip, \.tar\.gz, \.tgz, \.tar\.xz files only/],
    [{ working_dir: 'gcs://x.tar.bz2' }, /takes \.zip, \.tar\.gz, \.tgz, \.tar\.xz files only/],
    [{ py_modules: [`https://x.invalid/${'p'.repeat(250)}.whl`] }, /a wheel must have a plain file name/],
    [{ py_modules: ['https://x.invalid/a%2Fb.whl'] }, /a wheel must have a plain file name/],
    [{ py_modules: ['https://x.invalid/a%00b.whl'] }, /a wheel must have a plain file name/],
    [{ py_modules: ['https://x.invalid/%ff.whl'] }, /a wheel must have a plain file name/],
    [{ pip: ['a'], uv: ['b'] }, /'pip' and 'uv', which cannot be used together/],
    [
      { pip: { packages: ['a'], pip_version: '==1' } },
      /\['pip'\]\['pip_version'\] is not supported.*packages, pip_check/,
    ],
    [{ pip: { packages: ['a'], pip_check: 'yes' } }, /\['pip_check'\] must be of type bool/],
    [{ pip: 5 }, /must be a list/],
    [{ env_vars: { 'A=B': 'c' } }, /cannot be an environment variable/],
    [{ env_vars: { A: 5 } }, /not a string/],
    [{ config: 5 }, /\['config'\] must be of type dict/],
    [{ config: { setup_timeout_seconds: 0 } }, /must be greater than zero/],
    [{ config: { setup_timeout_seconds: 1.5 } }, /must be of type int/],
  ];
  for (const [value, words] of problems) assert.throws(() => readRuntimeEnv(value, embeddedEnvironments), words);
  assert.equal(readRuntimeEnv({ config: { setup_timeout_seconds: -1 } }, embeddedEnvironments).setupTimeout, undefined);
});

test('an engine that takes every runtime environment gets it as submitted', () => {
  const rest = {
    conda: { dependencies: ['pip'] },
    image_uri: 'image:1',
    nsight: 'default',
    worker_process_setup_hook: 'module.hook',
    config: { setup_timeout_seconds: 5, eager_install: false },
    a_plug_in: { of: ['somebody'] },
  };
  const env = readRuntimeEnv(
    {
      ...rest,
      env_vars: { A: '${HOME}' },
      working_dir: 's3://b/x.zip',
      py_modules: ['gs://b/m.zip', 'gcs://n.zip'],
      java_jars: null,
    },
    'all',
  );
  assert.deepEqual(env, {
    ...{ envVars: { A: '${HOME}' }, workingDir: 's3://b/x.zip', pyModules: ['gs://b/m.zip', 'gcs://n.zip'] },
    ...{ setup: [], setupTimeout: 5_000, rest },
  });
  const pip = { packages: ['a'], pip_version: '==23.3', pip_check: true, pip_install_options: ['--no-deps'] };
  assert.deepEqual(readRuntimeEnv({ pip }, 'all').rest, { pip });
  for (const scheme of ['http', 's3', 'gs', 'azure', 'abfss', 'file', 'local'])
    assert.equal(readRuntimeEnv({ working_dir: `${scheme}:///b/x.zip` }, 'all').workingDir, `${scheme}:///b/x.zip`);
  assert.throws(() => readRuntimeEnv({ conda: 'a', pip: ['b'] }, 'all'), /cannot be used together/);
  assert.throws(() => readRuntimeEnv({ working_dir: '/etc' }, 'all'), /uploaded by the client/);
  assert.throws(() => readRuntimeEnv({ working_dir: 'gcs://x.rar' }, 'all'), /files only/);
});

test('archives that the head cannot unpack are left to an engine that takes every runtime environment', () => {
  const given = {
    working_dir: 'https://x.invalid/w.tar.bz2?v=1',
    py_modules: ['https://x.invalid/m.jar', 'https://x.invalid/n.zip'],
    config: { setup_timeout_seconds: 100 * 86_400 },
  };
  const { workingDir, pyModules } = readRuntimeEnv(given, 'all');
  assert.deepEqual([workingDir, pyModules], [given.working_dir, given.py_modules]);
  assert.deepEqual([given.working_dir, ...given.py_modules].map(isFetchedHere), [false, false, true]);
  assert.deepEqual(packageUris(given), ['https://x.invalid/n.zip']);
  assert.throws(() => readRuntimeEnv({ working_dir: 'gcs://w.tar.bz2' }, 'all'), /files only/);
  for (const [field, value] of Object.entries(given))
    assert.throws(() => readRuntimeEnv({ [field]: value }, embeddedEnvironments), /files only|at most 2073600/, field);
});

test('values of variables are masked for listings', () => {
  assert.deepEqual(maskRuntimeEnv({ env_vars: { A: 'secret' }, pip: ['x'] }), { env_vars: { A: '***' }, pip: ['x'] });
});
