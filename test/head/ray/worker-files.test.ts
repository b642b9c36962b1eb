import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { EventKind } from '../../../src/base/events.ts';
import type { Clock, Duration } from '../../../src/base/time/clock.ts';
import { headEvents } from '../../../src/head/events.ts';
import { WorkerFiles } from '../../../src/head/ray/files/worker-files.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { until } from '../../contract/waiting.ts';

const hour = 3_600_000;
const worker = (id: string): ProviderInstance => ({
  id,
  launchToken: id,
  type: 'worker',
  kind: 'worker',
  state: 'running',
  launchedAt: 0,
  tags: {},
});

/** Workers to which one mounted file goes. Time passes at once, until there is nothing to do but the usual look. */
class FilesBed {
  readonly folder: string;
  readonly brought: string[] = [];
  readonly told: string[] = [];
  readonly pauses: Duration[] = [];
  readonly #mounted: string;
  bring: (id: string) => Promise<{ readonly left?: boolean }> = async () => ({});
  continuously = false;
  /** Hears of each pause, while it lasts. */
  paused: () => void = () => {};
  #now = 0;

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'manta-files-'));
    this.#mounted = join(this.folder, 'mounted');
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
    this.change('first');
  }

  change(text: string): void {
    writeFileSync(this.#mounted, text);
  }

  kept(): { readonly contents: string; readonly missed?: readonly string[] } {
    return JSON.parse(readFileSync(join(this.folder, 'files.json'), 'utf8')) as { contents: string };
  }

  count(kind: { readonly code: string }): number {
    return this.told.filter((code) => code === kind.code).length;
  }

  /** A life of mantad, until it has nothing to do; `most`: or until it has paused so often. */
  async run(workers: readonly string[], most = Infinity): Promise<void> {
    const life = new AbortController();
    let idle = false;
    const clock: Clock = {
      now: () => this.#now,
      sleep: async (pause, signal) => {
        if (pause >= hour || this.pauses.length >= most) {
          idle = true;
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('over'))));
        }
        this.pauses.push(pause);
        this.paused();
        this.#now += pause;
        await turn();
      },
    };
    const files = new WorkerFiles({
      record: join(this.folder, 'files.json'),
      clock,
      events: { emit: <Data>(kind: EventKind<Data>) => void this.told.push(kind.code) },
      files: () => ({
        mounts: [{ remote: '/opt/mounted', local: this.#mounted, directory: false }],
        exclude: [],
        filter: [],
      }),
      continuously: () => this.continuously,
      workers: async () => workers.map(worker),
      bring: async ({ id }) => {
        this.brought.push(id);
        return await this.bring(id);
      },
    });
    const kept = files.keep(life.signal);
    await until('there is nothing to do', () => idle);
    life.abort();
    await kept;
  }
}

test('a worker that changed files do not reach is tried again soon, ever more rarely, and the others are left alone', async (t) => {
  const bed = new FilesBed(t);
  await bed.run(['one', 'two', 'three']);
  assert.deepEqual(bed.brought, []);
  bed.change('second, and longer');
  let failures = 3;
  bed.bring = async (id) => {
    if (id === 'two' && failures-- > 0) throw new Error('no route to two');
    return {};
  };
  await bed.run(['one', 'two', 'three']);
  assert.deepEqual(bed.brought, ['one', 'two', 'three', 'two', 'two', 'two']);
  assert.equal(bed.pauses.length, 3);
  assert.deepEqual(
    bed.pauses,
    bed.pauses.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(bed.pauses).size, 3);
  assert.equal(bed.count(headEvents.filesTrouble), 1);
  assert.equal(bed.kept().missed, undefined);
});

test('with continuous sync a file that changes is copied to the running workers by itself', async (t) => {
  const bed = new FilesBed(t);
  bed.continuously = true;
  bed.paused = () => {
    if (bed.pauses.length === 2) bed.change('second, and longer');
  };
  await bed.run(['one', 'two'], 4);
  assert.deepEqual(bed.brought, ['one', 'two']);
  assert.equal(new Set(bed.pauses).size, 1, 'it looks at regular times');
});

test('what a worker has missed is known to the next mantad, and to nobody once that worker is gone', async (t) => {
  const bed = new FilesBed(t);
  await bed.run(['one', 'two']);
  const before = bed.kept().contents;
  bed.change('second, and longer');
  bed.bring = async (id) => {
    if (id === 'two') throw new Error('no route to two');
    return {};
  };
  await bed.run(['one', 'two'], 0);
  assert.notEqual(bed.kept().contents, before);
  assert.deepEqual(bed.kept().missed, ['two']);
  bed.brought.length = 0;
  await bed.run(['one', 'two'], 1);
  assert.deepEqual(new Set(bed.brought), new Set(['two']));
  await bed.run(['one']);
  assert.equal(bed.kept().missed, undefined);
});

test('a worker that is to be replaced is told of, and not tried again', async (t) => {
  const bed = new FilesBed(t);
  await bed.run(['one', 'two']);
  bed.change('second, and longer');
  bed.bring = async (id) => ({ left: id === 'two' });
  await bed.run(['one', 'two']);
  assert.deepEqual(bed.brought, ['one', 'two']);
  assert.equal(bed.count(headEvents.filesKeptBack), 1);
  assert.equal(bed.count(headEvents.filesTrouble), 0);
  assert.equal(bed.kept().missed, undefined);
});
