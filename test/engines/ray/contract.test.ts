import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { olderRayVersion, rayVersion } from '../../../scripts/ray-venv.ts';
import { noRay, rayPythons } from '../../jobs/ray-python.ts';

/** What keeps a Ray of the test's own from running here; undefined when nothing does. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'a Ray of its own needs the namespaces of Linux';
  if (process.getuid?.() !== 0) return 'a namespace of its own for Ray needs root';
  const unshare = spawnSync('unshare', ['-p', '-f', '-m', '-n', 'true'], { stdio: 'ignore' });
  return unshare.status === 0 ? undefined : "'unshare' cannot make namespaces here";
}

/** One after the other: each of them keeps a core busy. */
for (const version of [rayVersion, olderRayVersion]) {
  test(`both contracts, and what is Ray's own, hold on a real Ray ${version}`, async (t) => {
    const python = rayPythons().find((each) => each.version === version)?.python;
    const problem = python === undefined ? `${noRay} (${version})` : obstacle();
    if (python === undefined || problem !== undefined) return t.skip(problem);

    // Ray is started where it sees no other process and no network: its `stop`, and its ports, touch nobody else.
    const inside = fileURLToPath(new URL('./inside-contract.ts', import.meta.url));
    const setUp = 'ip link set lo up && mount -t tmpfs -o size=2g shm /dev/shm && exec "$@"';
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const run = spawn(
      'unshare',
      ['-p', '-f', '--mount-proc', '-m', '-n', '--kill-child', '--', 'sh', '-c', setUp, 'sh'].concat([
        process.execPath,
        '--test',
        '--test-reporter=spec',
        inside,
      ]),
      { env: { ...env, MANTA_RAY_PYTHON: python }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    t.after(() => run.kill('SIGKILL'));
    const hang = setTimeout(() => run.kill('SIGKILL'), 900_000);
    t.after(() => clearTimeout(hang));
    let said = '';
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
    const code = await new Promise((resolve) => run.on('close', resolve));
    assert.equal(code, 0, failingPart(said));
    assert.match(said, /skipped 0/);
    t.diagnostic(said.match(/ℹ (pass|fail) \d+/g)?.join(', ') ?? '');
  });
}

/** What a report of the test runner says of its failures; all of its end where it did not come so far. */
function failingPart(report: string): string {
  const from = report.indexOf('failing tests:');
  return from === -1 ? report.slice(-4_000) : report.slice(from);
}
