// needs: cluster

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { EventKind } from '../../src/base/events.ts';
import { rayVersion } from '../../src/core/ray-version.ts';
import { launcherErrors } from '../../src/launcher/errors.ts';
import { findRay, makeRay, type RaySearch } from '../../src/launcher/up/ray-venv.ts';
import { TestHome } from '../head/test-cluster.ts';

/** A machine with programs of its own: what they are, and what they do, is said by each test. */
class Machine {
  readonly path: string;
  readonly told: string[] = [];

  constructor(t: TestContext) {
    this.path = mkdtempSync(join(tmpdir(), 'manta-venv-'));
    t.after(() => rmSync(this.path, { recursive: true, force: true }));
    mkdirSync(join(this.path, 'bin'));
  }

  program(name: string, text: string, first = '#!/bin/sh'): string {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${first}\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** A Python that says to have this Ray. */
  python(name: string, version: string): string {
    return this.program(name, `echo "ray ${version}"`);
  }

  search(more: Partial<RaySearch> = {}): RaySearch {
    return {
      env: { PATH: `${join(this.path, 'bin')}:/usr/bin:/bin`, ...more.env },
      home: join(this.path, 'home'),
      events: { emit: (kind: EventKind<never>, data: unknown) => void this.told.push(kind.text(data as never)) },
      signal: AbortSignal.timeout(60_000),
    };
  }

  /** Nothing of the machine that runs the test is seen. */
  bare(): RaySearch {
    return this.search({ env: { PATH: join(this.path, 'bin') } });
  }
}

test('the Python that MANTA_RAY_PYTHON names wins, and is refused where it has no Ray', async (t) => {
  const machine = new Machine(t);
  const python = machine.python('any/python', '2.10.0');
  const env = { MANTA_RAY_PYTHON: python };
  assert.deepEqual(await findRay(machine.search({ env })), { path: python, version: '2.10.0' });
  const broken = machine.program('broken/python', 'echo "No module named ray" >&2; exit 1');
  await assert.rejects(findRay(machine.search({ env: { MANTA_RAY_PYTHON: broken } })), (error: Error) => {
    assert.ok(launcherErrors.VenvNotRay.is(error));
    assert.match(error.message, /No module named ray/);
    return true;
  });
});

test('the Python of the ray on the PATH is found by its first lines, or beside it', async (t) => {
  const machine = new Machine(t);
  // The ray of `manta shim` is no program of Python's.
  machine.program('bin/ray', 'exec manta "$@"');
  assert.equal(await findRay(machine.bare()), undefined);

  const python = machine.python('env/bin/python3.12', '2.58.0');
  machine.program('bin/ray', '', `#!${python}`);
  assert.deepEqual(await findRay(machine.bare()), { path: python, version: '2.58.0' });

  const spaced = machine.python('an env/bin/python', '2.57.0');
  machine.program('bin/ray', `'''exec' "${spaced}" "$0" "$@"`);
  assert.deepEqual(await findRay(machine.bare()), { path: spaced, version: '2.57.0' });

  machine.program('bin/ray', 'exec python "$0"');
  const beside = machine.python('bin/python', '2.60.1');
  assert.deepEqual(await findRay(machine.bare()), { path: beside, version: '2.60.1' });
});

test('a Ray that Manta is not tested with is passed over, and that is said', async (t) => {
  const machine = new Machine(t);
  const python = machine.python('env/python', '2.9.3');
  machine.program('bin/ray', '', `#!${python}`);
  assert.equal(await findRay(machine.bare()), undefined);
  assert.match(machine.told.join('\n'), /2\.9\.3.*MANTA_RAY_PYTHON=/);
});

test('Ray is installed with uv, once; what was cut short is never used', async (t) => {
  const machine = new Machine(t);
  const search = machine.search();
  const folder = join(search.home, 'ray', rayVersion);
  const uv = (install: string): string =>
    machine.program(
      'bin/uv',
      `case "$1 $2" in
--version*) exit 0 ;;
venv*) for last; do :; done; mkdir -p "$last/bin" && printf '#!/bin/sh\\necho "ray ${rayVersion}"\\n' >"$last/bin/python" && chmod +x "$last/bin/python" ;;
'pip install') ${install} ;;
esac`,
    );
  uv('echo "no space left on device" >&2; exit 2');
  await assert.rejects(makeRay(search), (error: Error) => {
    assert.ok(launcherErrors.VenvNotMade.is(error));
    assert.match(error.message, /no space left on device/);
    return true;
  });
  assert.equal(existsSync(folder), false);
  assert.equal(await findRay(search), undefined);

  // Killed on the way: everything is there but for the last word.
  machine.python(`home/ray/${rayVersion}/bin/python`, rayVersion);
  assert.equal(await findRay(search), undefined);

  uv('echo "Installed 74 packages"');
  const made = await makeRay(search);
  assert.deepEqual(made, { path: join(folder, 'bin/python'), version: rayVersion });
  assert.deepEqual(await findRay(search), made);
  assert.match(machine.told.join('\n'), /Installed 74 packages/);
  assert.ok(machine.told.some((line) => line.startsWith(`installed Ray ${rayVersion} into ${folder}`)));
});

test('a machine without uv and Python is told what it lacks', async (t) => {
  await assert.rejects(makeRay(new Machine(t).bare()), (error: Error) => launcherErrors.VenvNoPython.is(error));
});

test('nobody is asked where nobody can answer: the error names the way', async (t) => {
  const home = new TestHome(t, { PATH: '/nowhere', MANTA_RAY_PYTHON: '' });
  const refused = await home.run('up', '--engine', 'ray');
  assert.equal(refused.code, 2, refused.err);
  assert.match(refused.err, /Install Ray .*--yes|--yes.*Install Ray/s);
  assert.deepEqual(home.processes(), []);
});

test('an engine is not chosen for clusters of other machines', async (t) => {
  const home = new TestHome(t);
  writeFileSync(
    join(home.path, 'c.yaml'),
    'cluster_name: far\nprovider: {type: local, head_ip: 192.0.2.1, worker_ips: []}\n',
  );
  const refused = await home.run('up', 'c.yaml', '--engine', 'ray');
  assert.deepEqual([refused.code, /MANTA_RAY_VENV_OTHER_MACHINES/.test(refused.err)], [2, true], refused.err);
});

test('a Ray that does not start is given up soon, and says why', async (t) => {
  const machine = new Machine(t);
  const python = machine.program(
    'broken/python',
    `case "$2" in *aiohttp*) echo "ray ${rayVersion}" ;; *) echo 'ERR no room for the object store' >&2; exit 1 ;; esac`,
  );
  const home = new TestHome(t, { MANTA_RAY_PYTHON: python });
  const failed = await home.run('up', '--engine', 'ray');
  assert.equal(failed.code, 4, failed.err);
  assert.match(failed.err, /Ray's head \S+ exited: .*no room for the object store/);
  const down = await home.run('down', '-y');
  assert.equal(down.code, 0, down.err);
  assert.deepEqual(home.processes(), []);
});
