import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JobsAnswer } from '../../src/api/types.ts';
import { readServerEvents, type ServerEvent } from '../../src/base/network/sse.ts';
import { type FakeHead, startFakeHead } from './fake-head.ts';

let head: FakeHead;

before(async () => {
  head = await startFakeHead({ nodes: 20, jobs: 1200 });
});

after(() => head?.close());

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(new URL(`api/manta/v1/${path}`, head.url), {
    ...init,
    headers: { authorization: `Bearer ${head.token}`, ...init.headers },
  });

/** Reads server-sent events until `enough` says so. */
async function listen(
  path: string,
  headers: Record<string, string>,
  enough: (seen: ServerEvent[]) => boolean,
): Promise<ServerEvent[]> {
  const away = new AbortController();
  const response = await ask(path, { headers, signal: away.signal });
  const seen: ServerEvent[] = [];
  for await (const event of readServerEvents(response.body!)) {
    seen.push(event);
    if (enough(seen)) break;
  }
  away.abort();
  return seen;
}

test('the same seed makes the same cluster', async () => {
  const other = await startFakeHead({ nodes: 20, jobs: 1200 });
  const ids = (each: FakeHead): string[] => each.cluster.list([], '').map((row) => `${row.id} ${row.state}`);
  assert.deepEqual(ids(other), ids(head));
  await other.close();
});

test('pages of jobs join without gap or double', async () => {
  const ids: string[] = [];
  for (let before = ''; ; ) {
    const page = (await (await ask(`jobs?limit=500&before=${before}`)).json()) as JobsAnswer;
    assert.equal(page.total, 1200);
    ids.push(...page.jobs.map((row) => row.id));
    if (page.next === undefined) break;
    before = page.next;
  }
  assert.deepEqual(
    ids,
    head.cluster.list([], '').map((row) => row.id),
  );
});

test('events after Last-Event-ID come again, and no other', async () => {
  const last = head.cluster.events.at(-1)?.seq ?? 0;
  const seen = await listen('stream', { 'last-event-id': String(last - 3) }, (messages) => messages.length >= 3);
  assert.deepEqual(
    seen.map((message) => message.id),
    [last - 2, last - 1, last].map(String),
  );
});

test('a followed log is whole from any offset, and ends once', async () => {
  const job = head.cluster.submit({ entrypoint: 'echo one; sleep 0.2; printf "zwei ü\\n"; exit 3' });
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (head.cluster.job(job.id)?.attempts.length === 1) resolve();
      else setTimeout(look, 10);
    };
    look();
  });
  const seen = await listen(
    `jobs/${job.id}/logs/follow?attempt=1&offset=2`,
    {},
    (messages) => messages.at(-1)?.event === 'end',
  );
  const text = seen
    .filter((message) => message.event === 'message')
    .map((message) => (JSON.parse(message.data) as { text: string }).text);
  assert.equal(text.join(''), 'e\nzwei ü\n');
  assert.deepEqual(JSON.parse(seen.at(-1)?.data ?? ''), { state: 'failed', exitCode: 3 });
});

test('without a token nothing is answered, and a ticket works once', async () => {
  assert.equal((await fetch(new URL('api/manta/v1/cluster', head.url))).status, 401);
  const ticket = head.ticket();
  const first = await fetch(ticket, { redirect: 'manual' });
  assert.match(first.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Strict/);
  const second = await fetch(ticket, { redirect: 'manual' });
  assert.equal(second.headers.get('set-cookie'), null);
  assert.match(second.headers.get('location') ?? '', /#\/\?link=spent$/);
});

test('a stopped head refuses, and comes back on the same port with what happened meanwhile', async () => {
  await head.stop();
  await assert.rejects(ask('cluster'));
  head.cluster.say('info', 'MANTA_TEST', 'meanwhile');
  await head.start();
  const { events } = (await (await ask('events?limit=1')).json()) as { events: { text: string }[] };
  assert.equal(events[0]?.text, 'meanwhile');
});
