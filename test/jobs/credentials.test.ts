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
