import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineError, MantaError, redact } from '../../src/base/errors.ts';
import { fc } from '../property.ts';

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

describe('credentials are hidden', () => {
  for (const [text, hidden] of [
    ['Authorization: Bearer abcdef123456', 'Authorization: Bearer ***'],
    ['{"token": "abcdef"}', '{"token": "***"}'],
    ["aws_secret_access_key='AbCd1234'", "aws_secret_access_key='***'"],
    ['api-key=12345678', 'api-key=***'],
    ['ssh://root:hunter2@host:22/', 'ssh://root:***@host:22/'],
  ] as const)
    test(text, () => assert.equal(redact(text), hidden));

  test('and other text stays', () => {
    for (const text of ['no tokens here', 'see https://host/path', 'a:b@c', 'passwords are bad'])
      assert.equal(redact(text), text);
  });

  test('in any text, without end or harm', () => {
    fc.assert(fc.property(fc.string({ maxLength: 2000 }), (text) => redact(redact(text)) === redact(text)));
  });

  test('in texts of megabytes too: what took time by the square would not end here', () => {
    for (const piece of ['x', 'token ', 'bearer ', '://a', 'a:b@', 'secret" ', ' '])
      assert.equal(redact(piece.repeat(2_000_000 / piece.length)).length > 0, true);
    assert.equal(redact(`token${' '.repeat(1_000_000)}`).length, 1_000_005);
  });
});
