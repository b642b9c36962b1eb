import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { RayNodeInfo } from '../../../src/engines/ray/gcs/gcs.ts';
import { BootingRaylets, type RayletEdges } from '../../../src/head/one-machine/booting-raylets.ts';
import { ProcessProvider } from '../../../src/providers/process/provider.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { lastWords } from '../../../src/state/last-words.ts';
import { stateFolder } from '../../../src/state/state-folder.ts';
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
process.exit(spawnSync('sh', ['-c', ${JSON.stringify(program)}, process.argv[2]], { stdio: 'inherit' }).status);
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
  const raylets = new BootingRaylets({
    list: (signal) => provider.list(signal),
    nodeTable: async () => nodes as RayNodeInfo[],
    lastWords: (id) => lastWords(folder, id),
    clock: wallClock,
    ending: never,
  });
  const registered = raylets.registered(instance!, never);
  return { provider, instance: instance!, nodes, registered };
}

test('a raylet that cannot start is told of, in its own words', async (t) => {
  const { registered } = await bed(t, 'echo starting; echo "ERR no room for the object store"; exit 1');
  await assert.rejects(registered, /exited before it joined Ray: ERR no room for the object store$/);
});

test('a raylet that Ray shows is up, however long that takes', async (t) => {
  const { registered, nodes, instance } = await bed(t, 'exec sleep 600');
  nodes.push({ instance: instance.id, alive: true });
  await registered;
});

test('a raylet that was told to end, or ends with its head, has not failed', async (t) => {
  const head = await bed(
    t,
    `echo '{"by":"node"}' >"$0/end.json"; echo "its head is gone"; echo "Error of its end"; exit 1`,
  );
  await head.registered;
  const told = await bed(t, 'exec sleep 600');
  await until('it runs', async () => (await told.provider.list(never))[0]?.state === 'running');
  await told.provider.terminate([told.instance.id], never);
  await told.registered;
});

test('a raylet that was killed while it came up has not failed, whatever it said before', async (t) => {
  for (const said of ['', 'echo "Local node IP: 127.0.0.1"; ']) {
    const { registered } = await bed(t, `${said}kill -9 $PPID`);
    await registered;
  }
});

test('a Ray that ends on the way without a word of its own has failed', async (t) => {
  const { registered } = await bed(t, `echo '{"by":"ray"}' >"$0/end.json"; echo "Ray exited (1)"; exit 1`);
  await assert.rejects(registered, /Ray exited \(1\)$/);
});

/** Raylets that come up in virtual time, for minutes. */
function inTime(more: Partial<RayletEdges>) {
  const time = new VirtualTime(0);
  const nodes: Partial<RayNodeInfo>[] = [];
  const instances: ProviderInstance[] = [];
  const calls = { list: 0, nodeTable: 0 };
  const raylets = new BootingRaylets({
    list: async () => {
      calls.list++;
      return [...instances];
    },
    nodeTable: async () => {
      calls.nodeTable++;
      return [...nodes] as RayNodeInfo[];
    },
    lastWords: (id) => ({ text: `${id} failed`, failed: true }),
    clock: new VirtualClock(time),
    ending: never,
    ...more,
  });
  const boot = (id: string, signal = never): Promise<void> => {
    const instance = { id, state: 'running' } as ProviderInstance;
    instances.push(instance);
    return raylets.registered(instance, signal);
  };
  const show = (): void => void nodes.push(...instances.map(({ id }) => ({ instance: id, alive: true })));
  return { time, boot, show, calls };
}

test('one look a second is enough for all that come up at once, and none is judged by one from before it', async () => {
  const { time, boot, show, calls } = inTime({});
  const first = Array.from({ length: 40 }, (_, index) => boot(`i-${index}`));
  await time.run(500);
  const late = boot('i-late');
  await time.run(60_000);
  show();
  await time.run(62_000);
  await Promise.all([...first, late]);
  assert.ok(calls.list <= 63 && calls.nodeTable <= 63, `${calls.list} lists and ${calls.nodeTable} tables in a minute`);
});

test('a provider that does not answer says nothing of a raylet', async () => {
  const { time, boot, show } = inTime({
    list: async () => {
      throw new Error('no answer');
    },
  });
  const booting = boot('i-1');
  await time.run(5_000);
  show();
  await time.run(10_000);
  await booting;
});

test('who is told to stop waits for no look', async () => {
  const { boot } = inTime({ nodeTable: () => new Promise(() => {}) });
  const stop = new AbortController();
  const booting = boot('i-1', stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(booting, /enough/);
});
