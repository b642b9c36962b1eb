import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import type * as Api from '../../src/api/types.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { gate } from '../contract/gate.ts';
import { patiently } from '../contract/waiting.ts';
import { type ApiBed, makeApiBed } from './api-bed.ts';
import { ShellRunner } from './shell-runner.ts';

const runner = new ShellRunner(2);
let bed: ApiBed;
before(async () => {
  bed = await makeApiBed({ runner, types: [{ name: 'box', resources: { CPU: 2 }, labels: {}, atMost: 1 }] });
});
after(async () => {
  await bed.remove();
  runner.close();
});

const base = '/api/manta/v1';
const submit = async (body: Api.SubmitBody): Promise<Job> => {
  const answer = await bed.call('POST', `${base}/jobs`, { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.json();
};
const over = (id: string) => bed.queue.wait(id, patiently());

interface Sent {
  readonly event: string;
  readonly id?: string;
  readonly data: never;
}

async function* eventsOf(stream: IncomingMessage): AsyncGenerator<Sent> {
  let rest = '';
  for await (const chunk of stream) {
    rest += String(chunk);
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const fields = new Map(
        rest
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      rest = rest.slice(end + 2);
      const data = fields.get('data');
      const id = fields.get('id');
      if (data !== undefined)
        yield {
          event: fields.get('event') ?? 'message',
          ...(id !== undefined && { id }),
          data: JSON.parse(data) as never,
        };
    }
  }
}

test('everything a job can ask for is kept, and a repeated submission is harmless', async () => {
  const body: Api.SubmitBody = {
    id: 'full',
    entrypoint: 'true',
    metadata: { a: 'b' },
    resources: { CPU: 1 },
    priority: 3,
    retries: { failed: 1, node_lost: 2, preempted: 3, setup_failed: 4 },
    time_limit_s: 60,
    runtime_env: { env_vars: { A: '1' } },
  };
  const job = await submit(body);
  assert.deepEqual([job.user, job.priority, job.timeLimit], ['ada', 3, 60_000]);
  assert.deepEqual(job.retries, { failed: 1, nodeLost: 2, preempted: 3, setupFailed: 4 });
  assert.equal((await submit(body)).submittedAt, job.submittedAt);
  const other = await bed.call('POST', `${base}/jobs`, { body: { ...body, entrypoint: 'false' } });
  assert.deepEqual([other.status, (other.json() as Api.ErrorAnswer).error.code], [409, 'MANTA_JOB_EXISTS']);
});

test('what is wrong with a submission is named with its field', async () => {
  const cases: [Record<string, unknown>, number, RegExp][] = [
    [{}, 400, /entrypoint is missing/],
    [{ entrypoint: ' ' }, 400, /entrypoint is empty/],
    [{ entrypoint: 'x', colour: 'red' }, 400, /colour is not a key/],
    [{ entrypoint: 'x', resources: { CPU: '1' } }, 400, /resources\.CPU is not a number/],
    [{ entrypoint: 'x', resources: { CPU: -1 } }, 400, /amounts must be 0 or more/],
    [{ entrypoint: 'x', retries: { oops: 1 } }, 400, /retries\.oops is not a key of retries/],
    [{ entrypoint: 'x', cron: 'never' }, 400, /five fields/],
    [{ entrypoint: 'x', depends_on: ['ghost'] }, 400, /'ghost', which does not exist/],
    [{ entrypoint: 'x', gang: { bundles: [] } }, 400, /1 to 1000/],
    [{ entrypoint: 'x', gang: { bundles: [{ CPU: 1 }], strategy: 'ANY' } }, 400, /not one of PACK/],
    [{ entrypoint: 'x', resources: { GPU: 1 } }, 422, /no node type provides 'GPU'/],
    [{ entrypoint: 'x', runtime_env: { pip: 5 } }, 400, /^runtime_env\['pip'\] must be a list of requirements/],
  ];
  for (const [body, status, words] of cases) {
    const answer = await bed.call('POST', `${base}/jobs`, { body });
    assert.equal(answer.status, status, answer.text);
    assert.match((answer.json() as Api.ErrorAnswer).error.message, words);
  }
});

test('nobody submits as another, whatever the keys of the body are called', async () => {
  const powers = { user: 'root', priority: 1_000_000 };
  for (const name of ['constructor', '__proto__', 'toString', 'valueOf', 'user']) {
    const body = `{"id":"as-${name}","entrypoint":"true",${JSON.stringify(name)}:${JSON.stringify(powers)}}`;
    const answer = await bed.call('POST', `${base}/jobs`, { body });
    assert.deepEqual([answer.status, (answer.json() as Api.ErrorAnswer).error.code], [400, 'MANTA_JOB_INVALID'], name);
    assert.equal(bed.queue.get(`as-${name}`), undefined);
  }
  for (const inner of ['retries', 'gang']) {
    const body = `{"entrypoint":"true","${inner}":{"constructor":{},"bundles":[{"CPU":1}]}}`;
    assert.equal((await bed.call('POST', `${base}/jobs`, { body })).status, 400, inner);
  }
});

test('a body nested deeper than any client nests is refused', async () => {
  const deep = `{"entrypoint":"true","runtime_env":{"env_vars":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
  const answer = await bed.call('POST', `${base}/jobs`, { body: deep });
  assert.deepEqual([answer.status, (answer.json() as Api.ErrorAnswer).error.code], [400, 'MANTA_JOB_INVALID']);
});

test('values of a query that mean nothing are refused, with what is wrong with them', async () => {
  const cases: [string, RegExp][] = [
    ['jobs?limit=abc', /^limit is not a whole number$/],
    ['jobs?limit=-1', /^limit is not a whole number$/],
    ['jobs?limit=1.5', /^limit is not a whole number$/],
    ['jobs?limit=99999999999999999999', /^limit is not a whole number$/],
    ['jobs?state=NOPE', /^state is not a comma-separated list of held, queued/],
    ['jobs?state=running,NOPE', /^state is not/],
    ['jobs?state=running,', /^state is not/],
    ['jobs?others=yes', /^others is not a whole number$/],
    ['jobs?others=2', /^others is not 0 to 1$/],
    ['jobs?limit=&limit=5', /^limit is not a whole number$/],
    ['jobs?user=ada&user=bob', /^user is not a string$/],
    ['users?limit=abc', /^limit is not a whole number$/],
  ];
  for (const [query, words] of cases) {
    const answer = await bed.call('GET', `${base}/${query}`, { token: bed.admin });
    assert.equal(answer.status, 400, query);
    const { error } = answer.json() as Api.ErrorAnswer;
    assert.deepEqual([error.code, words.test(error.message)], ['MANTA_JOB_INVALID', true], error.message);
  }
  assert.equal((await bed.call('GET', `${base}/jobs?limit=&state=&colour=red`)).status, 200);
});

test('a new user is what the request says, and nothing that it does not understand is passed over', async () => {
  for (const [body, words] of [
    [{ name: 'eve', weight: true }, /^weight is not a number$/],
    [{ name: 'eve', weight: 0 }, /^weight is not above 0/],
    [{ name: 'eve', admin: 'yes' }, /^admin is neither true nor false$/],
    [{ name: 'eve', colour: 'red' }, /^colour is not a key of a user; known keys: name, admin, weight$/],
    [{ weight: 1 }, /^name is missing$/],
    [[], /^the body is not an object$/],
  ] as const) {
    const answer = await bed.call('POST', `${base}/users`, { token: bed.admin, body });
    assert.equal(answer.status, 400, answer.text);
    assert.match((answer.json() as Api.ErrorAnswer).error.message, words);
  }
  assert.ok(!bed.users.list().some(({ name }) => name === 'eve'));
});

test('users are listed page by page, in one order', async () => {
  for (const name of ['u1', 'u2', 'u3']) await bed.users.add(name);
  const names: string[] = [];
  for (let after = ''; ; ) {
    const answer = await bed.call('GET', `${base}/users?limit=2&after=${after}`, { token: bed.admin });
    const { users, next }: Api.UsersAnswer = answer.json();
    assert.ok(users.length <= 2);
    names.push(...users.map(({ name }) => name));
    if (next === undefined) break;
    after = next;
  }
  assert.deepEqual(
    names,
    bed.users.list().map(({ name }) => name),
  );
});

test('listings are paged, filtered and searched, newest first, with values masked', async () => {
  for (let i = 0; i < 7; i++)
    await submit({
      id: `page-${i}`,
      entrypoint: `echo needle-${i % 2}`,
      runtime_env: { env_vars: { KEY: 'topsecret' } },
    });
  await Promise.all(Array.from({ length: 7 }, (_, i) => over(`page-${i}`)));
  const get = async (query: string): Promise<Api.JobsAnswer> => {
    const answer = await bed.call('GET', `${base}/jobs?${query}`);
    assert.ok(!answer.text.includes('topsecret'));
    return answer.json();
  };
  const first = await get('search=PAGE-&limit=3');
  assert.deepEqual([first.total, first.jobs.map((job) => job.id)], [7, ['page-6', 'page-5', 'page-4']]);
  const second = await get(`search=PAGE-&limit=3&before=${first.next}`);
  assert.deepEqual(
    second.jobs.map((job) => job.id),
    ['page-3', 'page-2', 'page-1'],
  );
  const third = await get(`search=PAGE-&limit=3&before=${second.next}`);
  assert.deepEqual([third.jobs.map((job) => job.id), third.next], [['page-0'], undefined]);
  assert.equal((await get('search=needle-1')).total, 3);
  assert.equal((await get('search=page-&state=failed,stopped')).total, 0);
  assert.equal((await get('user=nobody')).total, 0);
  assert.equal((await bed.call('GET', `${base}/jobs?limit=x`)).status, 400);
});

test('logs are read by offset, by tail, by search and from an instant', async () => {
  const job = await submit({ entrypoint: 'for i in 1 2 3 4 5; do echo line $i; done' });
  await over(job.id);
  const get = async (query: string) => {
    const { text, headers } = await bed.call('GET', `${base}/jobs/${job.id}/logs?${query}`);
    return [text, headers['manta-offset'], headers['manta-next'], headers['manta-end']];
  };
  assert.deepEqual(await get('offset=7&limit=7'), ['line 2\n', '7', '14', 'false']);
  assert.deepEqual(await get('offset=28'), ['line 5\n', '28', '35', 'true']);
  assert.deepEqual(await get('tail=2'), ['line 4\nline 5\n', '21', '35', 'true']);
  assert.equal((await get('grep=3'))[0], 'line 3\n');
  assert.equal((await get('since=1'))[0]?.length, 35);
  assert.deepEqual(await get('offset=99'), ['', '99', '99', 'true']);
});

test('a follower resumes where it was cut off and hears the true end', async (t) => {
  const [first, second] = [gate(t), gate(t)];
  const job = await submit({ entrypoint: `echo one; ${first.wait}; echo two; ${second.wait}; echo three; exit 5` });
  const line = await bed.open(`${base}/jobs/${job.id}/logs/follow`);
  let resume = '';
  for await (const event of eventsOf(line)) {
    assert.equal((event.data as Api.LogChunk).text, 'one\n');
    resume = event.id ?? '';
    break;
  }
  line.destroy();
  assert.equal(resume, '4');
  first.open();
  const rest = await bed.open(`${base}/jobs/${job.id}/logs/follow`, { headers: { 'last-event-id': resume } });
  let text = '';
  let end: Record<string, unknown> = {};
  for await (const event of eventsOf(rest)) {
    if (event.event === 'end') end = event.data;
    else text += (event.data as Api.LogChunk).text;
    second.open();
  }
  assert.equal(text, 'two\nthree\n');
  assert.deepEqual(end, { state: 'failed', attempt: 1, attempts: 1, cause: 'failed', exitCode: 5 });
});

test('bytes that are not text arrive as bytes', async () => {
  const job = await submit({ entrypoint: "printf '\\377\\000'" });
  const chunks: Api.LogChunk[] = [];
  for await (const event of eventsOf(await bed.open(`${base}/jobs/${job.id}/logs/follow`)))
    if (event.event === 'message') chunks.push(event.data);
  assert.deepEqual(
    Buffer.concat(chunks.map((chunk) => Buffer.from(chunk.bytes ?? '', 'base64'))),
    Buffer.from([0xff, 0]),
  );
});

test('following a job that is stopped before it runs ends with that', async () => {
  const blocker = await submit({ entrypoint: 'sleep 30', resources: { CPU: 2 } });
  const job = await submit({ entrypoint: 'true', resources: { CPU: 2 } });
  const line = await bed.open(`${base}/jobs/${job.id}/logs/follow`);
  const stopped = (await bed.call('POST', `${base}/jobs/${job.id}/stop`)).json() as Job;
  assert.equal(stopped.state, 'stopped');
  const events: Sent[] = [];
  for await (const event of eventsOf(line)) events.push(event);
  assert.deepEqual(
    events.map((event) => [event.event, (event.data as { state: string }).state]),
    [['end', 'stopped']],
  );
  await bed.call('POST', `${base}/jobs/${blocker.id}/stop`);
});

test('stop, retry and delete', async () => {
  const job = await submit({ entrypoint: 'exit 1' });
  await over(job.id);
  const again = (await bed.call('POST', `${base}/jobs/${job.id}/retry`)).json() as Job;
  assert.equal(again.id, job.id);
  await over(job.id);
  assert.equal(bed.queue.get(job.id)?.attempts.length, 2);
  assert.equal((await bed.call('DELETE', `${base}/jobs/${job.id}`)).status, 204);
  assert.equal((await bed.call('GET', `${base}/jobs/${job.id}`)).status, 404);
  const running = await submit({ entrypoint: 'sleep 30' });
  assert.equal((await bed.call('DELETE', `${base}/jobs/${running.id}`)).status, 409);
  const token = await bed.tokenOf('stranger');
  assert.equal(
    ((await bed.call('POST', `${base}/jobs/${running.id}/stop`, { token })).json() as Api.ErrorAnswer).error.code,
    'MANTA_API_FORBIDDEN',
  );
  await bed.call('POST', `${base}/jobs/${running.id}/stop`);
  await over(running.id);
});
