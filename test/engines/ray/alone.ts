// needs: ray, hosts

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { noRay, rayPythons } from '../../jobs/ray-python.ts';

const network = 'ip link set lo up && mount -t tmpfs -o size=2g,mode=1777 shm /dev/shm && exec "$@"';

/** The Python of a Ray that can be started in namespaces of its own; the test is skipped where there is none. */
export function aloneRay(t: TestContext, version: string): string | undefined {
  const python = rayPythons().find((each) => each.version === version)?.python;
  const problem = python === undefined ? `${noRay} (${version})` : obstacle();
  if (problem !== undefined) t.skip(problem);
  return problem === undefined ? python : undefined;
}

function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'a Ray of its own needs the namespaces of Linux';
  if (process.getuid?.() !== 0) return 'a namespace of its own for Ray needs root';
  const unshare = spawnSync('unshare', ['-p', '-f', '-m', '-n', 'true'], { stdio: 'ignore' });
  return unshare.status === 0 ? undefined : "'unshare' cannot make namespaces here";
}

/**
 * Runs the tests of a file where Ray sees no other process and no network: its `stop`, and its ports, touch nobody else.
 * `command` is what runs there, the test runner on `inside` unless told.
 */
export async function testAlone(
  t: TestContext,
  python: string,
  inside: string,
  command: readonly string[] = [process.execPath, '--test', '--test-reporter=spec', inside],
): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(
    'unshare',
    ['-p', '-f', '--mount-proc', '-m', '-n', '--kill-child', '--', 'sh', '-c', network, 'sh', ...command],
    { env: { ...env, NODE: process.execPath, MANTA_RAY_PYTHON: python }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  t.after(() => run.kill('SIGKILL'));
  const hang = setTimeout(() => run.kill('SIGKILL'), 900_000);
  t.after(() => clearTimeout(hang));
  let said = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const code = await new Promise((resolve) => run.on('close', resolve));
  assert.equal(code, 0, failingPart(said));
  assert.match(said, /skipped 0/);
  t.diagnostic(said.match(/ℹ (?:pass|fail) \d+/g)?.join(', ') ?? '');
}

/** What a report of the test runner says of its failures; all of its end where it did not come so far. */
function failingPart(report: string): string {
  const from = report.indexOf('failing tests:');
  return from === -1 ? report.slice(-4_000) : report.slice(from);
}
