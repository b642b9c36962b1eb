import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineError, MantaError } from '../../src/base/errors.ts';

const Refused = defineError<{ host: string; password: string }>({
  code: 'MANTA_TEST_REFUSED',
  exit: 5,
  message: (e) => `${e.host} refused password=${e.password}`,
  hint: (e) => `try https://me:${e.password}@${e.host}/`,
});

describe('an error', () => {
  test('carries code, exit code, data and cause', () => {
    const cause = new Error('why');
    const error = Refused({ host: 'a', password: 'geheim1' }, cause);
    assert.ok(error instanceof MantaError && error instanceof Error);
    assert.deepEqual([error.code, error.exit, error.cause], ['MANTA_TEST_REFUSED', 5, cause]);
    assert.ok(Refused.is(error));
    assert.ok(!Refused.is(new Error('another')));
  });

  test('hides credentials in its message and hint', () => {
    const { message, hint } = Refused({ host: 'a', password: 'geheim1' });
    assert.equal(message, 'a refused password=***');
    assert.equal(hint, 'try https://me:***@a/');
  });
});
