import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rayErrors } from '../../../src/engines/ray/errors.ts';
import type { RayHttp } from '../../../src/engines/ray/jobs/http.ts';
import { RayJobsApi } from '../../../src/engines/ray/jobs/jobs-api.ts';
import { never } from '../../contract/waiting.ts';

const submission = { submission_id: 'a', entrypoint: 'true', runtime_env: {}, metadata: {} };

const submitTo = (status: number, text: string) =>
  new RayJobsApi('http://ray', {
    ask: async () => ({ status, body: Buffer.from(text) }),
  } as unknown as RayHttp).submit(submission, never);

it('a submission that Ray cannot read, or that is too large, is refused for good', async () => {
  for (const status of [400, 413, 422]) assert.deepEqual(await submitTo(status, 'no'), { refused: 'no' });
});

it('one that finds nobody, comes at a bad time or too often is tried again', async () => {
  for (const status of [404, 408, 409, 429, 500, 503])
    await assert.rejects(submitTo(status, 'not now'), (error) => rayErrors.Refused.is(error), String(status));
});

it('one whose name is taken is known by what Ray says, whatever the status', async () => {
  for (const status of [400, 409, 500])
    assert.deepEqual(await submitTo(status, 'ValueError: Job with submission_id a already exists.'), { exists: true });
});
