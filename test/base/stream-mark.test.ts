import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StreamMark } from '../../src/base/network/stream-mark.ts';
import { JobControlNoise } from '../../src/bringup/steps/job-control-noise.ts';

const mark = 'abab!';
const text = fc
  .array(fc.constantFrom('a', 'b', '!', 'ab', 'aba', '\n'), { maxLength: 30 })
  .map((parts) => parts.join(''));
const cuts = fc.array(fc.nat(60), { maxLength: 8 });

function pieces(whole: string, at: readonly number[]): Buffer[] {
  const edges = [0, ...at.filter((edge) => edge <= whole.length).sort((a, b) => a - b), whole.length];
  return edges.slice(1).map((to, index) => Buffer.from(whole.slice(edges[index], to), 'latin1'));
}

test('bytes pass unchanged up to a mark, wherever the stream is cut', () => {
  fc.assert(
    fc.property(text, text, cuts, (before, after, at) => {
      fc.pre(!`${before}${mark}`.slice(0, -1).includes(mark));
      let passed = '';
      const stream = new StreamMark(mark, (bytes) => {
        passed += bytes.toString('latin1');
      });
      for (const piece of pieces(`${before}${mark}${after}`, at)) stream.push(piece);
      assert.equal(passed, before);
      assert.equal(stream.after?.toString('latin1'), after);
    }),
  );
});

test('without a mark everything has passed at the end', () => {
  fc.assert(
    fc.property(text, cuts, (whole, at) => {
      fc.pre(!whole.includes(mark));
      let passed = '';
      const stream = new StreamMark(mark, (bytes) => {
        passed += bytes.toString('latin1');
      });
      for (const piece of pieces(whole, at)) stream.push(piece);
      stream.end();
      assert.equal(passed, whole);
      assert.equal(stream.after, undefined);
    }),
  );
});

const complaints = [
  'bash: cannot set terminal process group (-1): Inappropriate ioctl for device\n',
  'bash: no job control in this shell\n',
];
const output = fc.oneof(
  fc.constantFrom('', 'b', 'bash', 'bash: x\n', '/opt/a: 1', 'bash: cannot', 'no newline', '\n\nx\n', '-'),
  fc.string({ unit: 'binary', maxLength: 40 }).map((each) => Buffer.from(each).toString('latin1')),
);

test("bash's complaints of a missing terminal are dropped from the front, and nothing else, wherever it is cut", () => {
  fc.assert(
    fc.property(fc.nat(2), output, fc.array(fc.nat(180), { maxLength: 8 }), (count, rest, at) => {
      fc.pre(!complaints.some((line) => rest.startsWith(line)));
      const front = complaints.slice(0, count).join('');
      let passed = '';
      const filter = new JobControlNoise(0, (bytes, offset) => {
        assert.equal(offset, front.length + passed.length);
        passed += bytes.toString('latin1');
      });
      for (const piece of pieces(`${front}${rest}`, at)) filter.push(piece);
      filter.end();
      assert.equal(passed, rest);
    }),
  );
});
