import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../src/client/http.ts';
import { headStatuses } from '../../src/head/api/statuses.ts';
import { jobStatuses } from '../../src/jobs/api-answer.ts';

describe('a command that a head refuses ends with the code and the exit code that docs/errors.md gives', () => {
  for (const [status, kinds] of [...jobStatuses, ...headStatuses])
    for (const { code, exit } of kinds)
      test(`${code} as HTTP ${status}`, () => {
        const error = refusal(status, JSON.stringify({ error: { code, message: 'no' } }), 'http://head', true);
        assert.deepEqual([error.code, error.exit], [code, exit]);
      });
});
