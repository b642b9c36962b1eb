import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readRefusal } from '../../../src/engines/ray/jobs/prose.ts';

/** What the tested Rays answered to requests that they did not do. */
const recorded = JSON.parse(readFileSync(new URL('./refusals.json', import.meta.url), 'utf8')) as readonly {
  readonly ray: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly text: string;
}[];

const expected = [
  ['exists', 'Job with submission_id a already exists. Please use a different submission_id'],
  ['invalid', "entrypoint must be a string, got <class 'int'>"],
  ['invalid', "entrypoint_num_cpus must be a number, got <class 'str'>"],
  ['not-over', "Attempted to delete job 'a', but it is in a non-terminal state PENDING"],
  ...Array.from({ length: 4 }, () => ['declined', 'Job nope does not exist']),
];

describe('what Ray refuses', () => {
  for (const version of new Set(recorded.map(({ ray }) => ray)))
    it(`is understood as Ray ${version} says it`, () => {
      const answers = recorded.filter(({ ray }) => ray === version);
      const read = answers.map(({ status, text }) => readRefusal(status, text));
      assert.deepEqual(
        read.map(({ kind, words }) => [kind, words]),
        expected,
      );
    });

  it('is the fault of the request where the dashboard wraps an answer of 400 in one of 500', () => {
    const inner =
      'Traceback (most recent call last):\n  File "x"\nTypeError: entrypoint must be a string, got <class \'int\'>';
    const text = `Traceback (most recent call last):\nRuntimeError: Request failed with status code 400: ${inner}\n.\n`;
    assert.deepEqual(readRefusal(500, text), {
      kind: 'invalid',
      line: "TypeError: entrypoint must be a string, got <class 'int'>",
      words: "entrypoint must be a string, got <class 'int'>",
    });
  });

  it("is not decided by words of the user's that Ray repeats", () => {
    const text =
      "TypeError: runtime_env must be a dict, got 'status code 400: it already exists, in a non-terminal state'";
    assert.equal(readRefusal(500, `Traceback (most recent call last):\n${text}\n`).kind, 'fault');
    assert.equal(readRefusal(400, `Traceback (most recent call last):\n${text}\n`).kind, 'invalid');
  });

  it('is for good where the request is at fault, and for now where it only comes at a bad time', () => {
    const kinds = (statuses: readonly number[]): string[] =>
      statuses.map((status) => readRefusal(status, 'no such thing').kind);
    assert.deepEqual(kinds([400, 413, 422]), ['invalid', 'invalid', 'invalid']);
    assert.deepEqual(kinds([404, 408, 409, 429]), ['declined', 'declined', 'declined', 'declined']);
  });

  it("of a proxy's page keeps no words", () => {
    assert.deepEqual(readRefusal(502, '<html>Bad Gateway</html>'), { kind: 'fault', line: '', words: '' });
  });
});
