import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inOneSession } from '../../src/base/one-session.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { thisHost } from '../../src/base/this-host.ts';

const { signal } = new AbortController();

/** This machine, with a count of the sessions that were asked of it. */
function counting(): { readonly host: ReturnType<typeof inOneSession>; readonly sessions: () => number } {
  const real = thisHost();
  let count = 0;
  const host = inOneSession({
    name: 'here',
    sh: (program, options) => {
      count += 1;
      return real.sh(program, options);
    },
  });
  return { host, sessions: () => count };
}

test('programs that are asked for at once run in one session, in order, and each has its own outcome', async () => {
  const { host, sessions } = counting();
  const results = await Promise.all([
    host.sh('x=1; cd /; echo first; echo oh >&2; case a in a) exit 3;; esac', { signal }),
    host.sh('printf "%s no end of line" "${x-unset}"; pwd >/dev/null', { signal }),
    host.sh('cat <<END\nsome (text)\nEND\n', { signal }),
    host.sh('', { signal }),
  ]);
  assert.deepEqual(results, [
    { code: 3, stdout: 'first\n', stderr: 'oh\n' },
    { code: 0, stdout: 'unset no end of line', stderr: '' },
    { code: 0, stdout: 'some (text)\n', stderr: '' },
    { code: 0, stdout: '', stderr: '' },
  ]);
  assert.equal(sessions(), 1);
});

test('a program that waits for another has a session of its own', async () => {
  const { host, sessions } = counting();
  await host.sh('true', { signal });
  assert.equal((await host.sh('echo two', { signal })).stdout, 'two\n');
  assert.equal(sessions(), 2);
});

test('programs that a shell never came to are not taken for done', async () => {
  const { host } = counting();
  const killed = host.sh('kill -9 $$', { signal });
  const after = host.sh('echo there', { signal });
  await Promise.all([killed, after].map((each) => assert.rejects(each, (error) => sshErrors.Dropped.is(error))));
});
