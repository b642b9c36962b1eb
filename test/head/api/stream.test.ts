/** What a stream that nobody reads holds, and what it costs to tell many streams of one change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import type { ClusterAnswer } from '../../../src/api/types.ts';
import type { Job } from '../../../src/core/jobs/job.ts';
import { openStream } from '../../../src/head/api/stream.ts';
import type { Head } from '../../../src/head/head.ts';
import { newJob, specOf } from '../../../src/jobs/queue/submission.ts';

type Watcher = (changes: readonly { readonly after: Job }[]) => void;

/** The streams of a head whose queue changes as told. */
function streamsOf(): { open(): Promise<ReadableStreamDefaultReader<Uint8Array>>; change(jobs: readonly Job[]): void } {
  const watchers = new Set<Watcher>();
  const head = {
    events: { watch: () => () => {}, last: () => [], after: () => [] },
    watch: () => () => {},
    sight: () => ({}),
    queue: {
      watch: (watcher: Watcher) => {
        watchers.add(watcher);
        return () => void watchers.delete(watcher);
      },
    },
  } as unknown as Head;
  const app = new Hono();
  app.get('/stream', (c) => openStream(c, head, undefined, { cluster: () => ({}) as ClusterAnswer, nodes: () => [] }));
  return {
    async open() {
      const { body } = await app.request('/stream');
      assert.ok(body);
      return body.getReader();
    },
    change(jobs) {
      for (const watcher of watchers) watcher(jobs.map((after) => ({ after })));
    },
  };
}

const jobOf = (id: string, entrypoint: string): Job => newJob(specOf({ id, user: 'ada', entrypoint }, id, 0), 0);

/** Until the stream ends, or something is in it. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<'ended' | 'found'> {
  const decoder = new TextDecoder();
  let said = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 'ended';
    said = said.slice(-1_000) + decoder.decode(value, { stream: true });
    if (said.includes(text)) return 'found';
  }
}

test('a stream that falls megabytes behind is cut off, and one that is read is not', { timeout: 60_000 }, async () => {
  const streams = streamsOf();
  const deaf = await streams.open();
  const reader = await streams.open();
  const reading = (async () => {
    for (let round = 0; round < 4; round++) {
      const last = `last-${round}`;
      streams.change(Array.from({ length: 1_000 }, (_, i) => jobOf(`job-${round}-${i}`, 'x'.repeat(600))));
      streams.change([jobOf(last, 'true')]);
      assert.equal(await readUntil(reader, last), 'found');
    }
  })();
  await reading;
  assert.equal(await readUntil(deaf, 'last-3'), 'ended');
  await reader.cancel();
});

test('a change of a job is written down once for all streams', async () => {
  const streams = streamsOf();
  const readers = await Promise.all(Array.from({ length: 20 }, () => streams.open()));
  let read = 0;
  const job = jobOf('one', 'true');
  Object.defineProperty(job, 'entrypoint', {
    enumerable: true,
    get: () => {
      read += 1;
      return `true ${'x'.repeat(60_000)}`;
    },
  });
  streams.change([job]);
  for (const reader of readers) assert.equal(await readUntil(reader, '"id":"one"'), 'found');
  assert.equal(read, 1);
  await Promise.all(readers.map((reader) => reader.cancel()));
});
