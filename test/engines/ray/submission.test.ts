import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RayPackages } from '../../../src/engines/ray/jobs/packages.ts';
import { submissionOf } from '../../../src/engines/ray/jobs/submission.ts';
import type { AttemptOrder } from '../../../src/engines/runner.ts';
import { never } from '../../contract/waiting.ts';

const order: AttemptOrder = {
  ...{ id: 'a.2', job: 'a', number: 2, entrypoint: 'true', env: {}, own: {}, metadata: {}, setup: [] },
  ...{ environment: {}, resources: {}, labels: {}, log: '/nowhere' },
};

it("what users write into Ray's own keys of the metadata does not reach Ray", async () => {
  const metadata = { job_submission_id: 'of-another', job_name: 'of-another', mine: '1' };
  const sent = await submissionOf('a.2', { ...order, metadata }, {} as RayPackages, never);
  assert.deepEqual(sent.metadata, { mine: '1', job_name: 'a' });
});
