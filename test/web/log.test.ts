import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogLines } from '../../src/web/state/log-lines.ts';
import { LogSearch } from '../../src/web/state/log-search.ts';
import { fc } from '../property.ts';

function held(lines: LogLines): string[] {
  return Array.from({ length: lines.count }, (_, index) => lines.line(index));
}

function fed(pieces: readonly string[], keep?: number): LogLines {
  const lines = new LogLines(keep === undefined ? {} : { keep });
  let offset = 0;
  for (const piece of pieces) {
    lines.append(piece, offset);
    offset += Buffer.byteLength(piece);
  }
  return lines;
}

test('the same lines are held however the output is cut', () => {
  const text = fc
    .array(fc.constantFrom('a', 'bc', '\n', 'ü', '\r', 'x\r\n'), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 80 })), (output, cuts) => {
      const places = [0, ...cuts.map((cut) => Math.min(cut, output.length)).sort((a, b) => a - b), output.length];
      const pieces = places.slice(1).map((place, index) => output.slice(places[index], place));
      assert.deepEqual(held(fed(pieces)), held(fed([output])));
    }),
  );
});

test('a progress line is shown as it stands last', () => {
  assert.deepEqual(held(fed(['10%\r', '50%\r', '100%', '\ndone\n'])), ['100%', 'done']);
});

test('the oldest lines go first, and the offset of what is left is known', () => {
  const lines = fed(
    Array.from({ length: 30 }, (_, index) => `line ${String(index).padStart(2, '0')}\n`),
    10,
  );
  assert.equal(lines.count, 10);
  assert.equal(lines.line(0), 'line 20');
  assert.equal(lines.firstOffset, 20 * 8);
});

test('earlier output goes in front', () => {
  const lines = new LogLines();
  lines.clear(6);
  lines.append('three\n', 6);
  assert.equal(lines.prepend('a\nb\nc\n', 0), 3);
  assert.deepEqual(held(lines), ['a', 'b', 'c', 'three']);
  assert.equal(lines.firstOffset, 0);
  lines.append('four\n', 12);
  assert.equal(lines.line(4), 'four');
});

test('a line without end is shown in pieces', () => {
  const lines = fed(['x'.repeat(9000), 'y\n']);
  assert.deepEqual(
    held(lines).map((line) => line.length),
    [4000, 4000, 1001],
  );
});

test('a search keeps up with lines that grow, come and go', () => {
  const lines = new LogLines();
  const search = new LogSearch('err(');
  lines.append('ok\nan e', 0);
  search.update(lines);
  assert.deepEqual(search.matches, []);
  lines.append('\u001b[31mRR(1)\u001b[0m\nok\nerr(2)\n', 7);
  search.update(lines);
  assert.deepEqual(search.matches, [1, 3]);
  search.update(lines);
  assert.deepEqual(search.matches, [1, 3]);
  search.shift(-2);
  assert.deepEqual(search.matches, [1]);
});

test('no more lines are held than asked for, however the pieces are cut', () => {
  const text = Array.from({ length: 2_000 }, (_, index) => `zeile ${index} äöü\n`).join('');
  const bytes = new TextEncoder().encode(text);
  const lines = new LogLines({ keep: 100 });
  for (let at = 0; at < bytes.length; ) {
    // Never at the start of a line, and never inside a character.
    let end = Math.min(bytes.length, at + 257);
    while (end < bytes.length && (bytes[end - 1] === 10 || ((bytes[end] ?? 0) & 0xc0) === 0x80)) end++;
    lines.append(new TextDecoder().decode(bytes.slice(at, end)), at);
    at = end;
  }
  assert.ok(lines.count >= 100 && lines.count < 150, `${lines.count} lines`);
  assert.equal(lines.line(lines.count - 1), 'zeile 1999 äöü');
  const held = new TextDecoder().decode(bytes.slice(lines.firstOffset));
  assert.equal(held.split('\n')[0], lines.line(0));
});
