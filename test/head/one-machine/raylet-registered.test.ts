import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { wallClock } from '../../../src/base/wall-clock.ts';
import type { RayNodeInfo } from '../../../src/engines/ray/gcs.ts';
import { lastWords } from '../../../src/head/one-machine/last-words.ts';
import { rayletRegistered } from '../../../src/head/one-machine/raylet-registered.ts';
import { stateFolder } from '../../../src/head/state-folder.ts';
import { ProcessProvider } from '../../../src/providers/process/provider.ts';
import { never, until } from '../../contract/waiting.ts';

/** An instance whose process is this sh program; it signs in first, as a node does. */
async function bed(t: TestContext, program: string) {
  const home = mkdtempSync(join(tmpdir(), 'manta-raylet-'));
  const folder = stateFolder(home, 'bed');
  mkdirSync(folder.path, { recursive: true });
  const agent = join(home, 'agent.mjs');
  const identify = new URL('../../../src/base/process.ts', import.meta.url).href;
  writeFileSync(
    agent,
    `import { identify } from '${identify}';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
writeFileSync(process.argv[2] + '/process.json', JSON.stringify(identify(process.pid)));
process.on('SIGTERM', () => process.exit());
process.exit(spawnSync('sh', ['-c', ${JSON.stringify(program)}], { stdio: 'inherit' }).status);
`,
  );
  const provider = new ProcessProvider({
    folder: folder.files.instances,
    agent: [process.execPath, agent],
    typeOf: () => ({ resources: {}, labels: {} }),
    clock: wallClock,
    endGrace: 100,
  });
  t.after(async () => {
    const there = await provider.list(never);
    await provider.terminate(
      there.map(({ id }) => id),
      never,
    );
    await provider.settled();
    rmSync(home, { recursive: true, force: true });
  });
  const request = { token: 'one', type: 'worker', count: 1, market: 'on-demand', tags: {} } as const;
  const [instance] = await provider.launch(request, never);
  const nodes: Partial<RayNodeInfo>[] = [];
  const registered = rayletRegistered(
    instance!,
    {
      list: (signal) => provider.list(signal),
      nodeTable: async () => nodes as RayNodeInfo[],
      lastWords: (id) => lastWords(folder, id),
      clock: wallClock,
    },
    never,
  );
  return { provider, instance: instance!, nodes, registered };
}

test('a raylet that cannot start is told of, in its own words', async (t) => {
  const { registered } = await bed(t, 'echo starting; echo "ERR no room for the object store"; exit 1');
  await assert.rejects(registered, /ended before Ray knew it: ERR no room for the object store$/);
});

test('a raylet that Ray shows is up, however long that takes', async (t) => {
  const { registered, nodes, instance } = await bed(t, 'exec sleep 600');
  nodes.push({ instance: instance.id, alive: true });
  await registered;
});

test('a raylet that was told to end, or ends with its head, has not failed', async (t) => {
  const head = await bed(
    t,
    'echo "2026-01-01T00:00:00.000Z ending: its head is gone"; echo "Error of its end"; exit 1',
  );
  await head.registered;
  const told = await bed(t, 'exec sleep 600');
  await until('it runs', async () => (await told.provider.list(never))[0]?.state === 'running');
  await told.provider.terminate([told.instance.id], never);
  await told.registered;
});
