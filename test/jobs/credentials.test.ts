/** Credentials that stand in what one user submits are not shown to another. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { failureText, withoutOutput } from '../../src/core/jobs/messages.ts';
import { type ApiBed, makeApiBed } from './api-bed.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock } from './manual-clock.ts';

const clock = new ManualClock();
const secrets = ['pa55word', 'f00d5ignature', 'hunter2', 'bee5token', '0bscure'];
const job = {
  id: 'leaky',
  entrypoint: 'curl -u ada:hunter2 https://host/data | python train.py',
  metadata: { source: 'https://ada:pa55word@git.example/repo', note: 'plain' },
  runtime_env: {
    working_dir: 'https://host/x.zip?X-Amz-Expires=60&X-Amz-Signature=f00d5ignature',
    py_modules: ['https://ada:pa55word@host/y.whl'],
    pip: ['--extra-index-url https://bee5token11223344@pypi.example/simple', 'torch'],
    env_vars: { PLACE: '0bscure' },
  },
};
let bed: ApiBed;
let other: string;
before(async () => {
  bed = await makeApiBed({ clock, runner: new FakeRunner(clock), run: false });
  other = await bed.tokenOf('bob');
  const { runtime_env: runtimeEnv, ...rest } = job;
  await bed.queue.submit({ ...rest, user: 'ada', runtimeEnv });
});
after(() => bed.remove());

test('somebody else sees the job, without them', async () => {
  for (const path of ['/api/jobs/', '/api/jobs/leaky', '/api/manta/v1/jobs', '/api/manta/v1/jobs/leaky']) {
    const { status, text } = await bed.call('GET', path, { token: other });
    assert.equal(status, 200, path);
    assert.match(text, /curl -u ada:\*\*\* https:\/\/host\/data/, path);
    for (const secret of secrets) assert.ok(!text.includes(secret), `${path} shows ${secret}: ${text}`);
  }
  const { text } = await bed.call('GET', '/api/jobs/leaky', { token: other });
  assert.match(text, /x\.zip\?X-Amz-Expires=60&X-Amz-Signature=\*\*\*/);
  assert.match(text, /"note":"plain"/);
});

test('its owner and an administrator see it as it was submitted', async () => {
  for (const token of [bed.token, bed.admin])
    for (const path of ['/api/jobs/leaky', '/api/manta/v1/jobs/leaky']) {
      const { text } = await bed.call('GET', path, { token });
      for (const secret of secrets)
        assert.ok(text.includes(secret), `${path} hides ${secret} from those who may see it`);
    }
});

test('what is not shown is not found by a search either', async () => {
  const found = async (search: string): Promise<number> =>
    ((await bed.call('GET', `/api/manta/v1/jobs?search=${search}`, { token: other })).json() as { total: number })
      .total;
  assert.deepEqual([await found('train.py'), await found('hunter2'), await found('ada:h')], [1, 0, 0]);
});

test('a long command is searched and shown only as far as its row goes, without credentials that the cut goes through', async () => {
  const rowOf = async (id: string): Promise<string> => {
    const { jobs } = (await bed.call('GET', `/api/manta/v1/jobs?search=${id}`, { token: other })).json() as {
      jobs: { entrypoint: string }[];
    };
    return jobs[0]?.entrypoint ?? '';
  };
  const url = 'https://ada:0pa55phrase@host/data';
  const long = `first ${'x'.repeat(480)} second ${'y'.repeat(60_000)} third`;
  await bed.queue.submit({ id: 'long-1', user: 'ada', entrypoint: long });
  assert.equal(await rowOf('long-1'), `${long.slice(0, 500)}…`);
  for (const [search, total] of [
    ['first', 1],
    ['third', 0],
  ] as const) {
    const found = await bed.call('GET', `/api/manta/v1/jobs?search=${search}`, { token: other });
    assert.equal((found.json() as { total: number }).total, total, search);
  }
  // What was hidden made room for what is behind it, up to where the text was cut.
  const start = `run --password=${'z1'.repeat(900)} `;
  for (let cut = 0; cut <= url.length; cut++) {
    const id = `cut-${cut}-`;
    const entrypoint = `${start}${' '.repeat(2_000 - start.length - cut)}${url} ${'w'.repeat(3_000)}`;
    await bed.queue.submit({ id, user: 'ada', entrypoint });
    assert.doesNotMatch(await rowOf(id), /0pa/, `cut after ${cut} characters`);
  }
});

test('of a large environment others see the names', async () => {
  const runtimeEnv = { pip: Array.from({ length: 4_000 }, (_, i) => `package-${i}`), env_vars: { PLACE: '0bscure' } };
  await bed.queue.submit({ id: 'large-env', user: 'ada', entrypoint: 'true', runtimeEnv });
  const names = { pip: '***', env_vars: { PLACE: '***' } };
  const rays = (await bed.call('GET', '/api/jobs/large-env', { token: other })).json() as Record<string, unknown>;
  assert.deepEqual(rays['runtime_env'], names);
  const own = (await bed.call('GET', '/api/manta/v1/jobs/large-env', { token: other })).json() as typeof rays;
  assert.deepEqual(own['runtimeEnv'], names);
  const listed = (await bed.call('GET', '/api/jobs/', { token: other })).json() as (typeof rays)[];
  assert.deepEqual(listed.find((each) => each['submission_id'] === 'large-env')?.['runtime_env'], names);
  const owned = (await bed.call('GET', '/api/jobs/large-env')).json() as typeof rays;
  assert.deepEqual(owned['runtime_env'], runtimeEnv);
});

test('the message of a failed set-up is shown to others without them', () => {
  const message = failureText({
    cause: 'setup-failed',
    message: 'GET https://ada:pa55word@host/x?sig=f00d answered 404',
  });
  assert.equal(
    withoutOutput(message),
    'runtime_env setup failed: Failed to set up runtime environment. GET https://ada:***@host/x?sig=*** answered 404',
  );
});
