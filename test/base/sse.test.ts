import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readServerEvents, type ServerEvent } from '../../src/base/network/sse.ts';
import { fc } from '../property.ts';

async function eventsIn(bytes: Buffer, cuts: readonly number[]): Promise<ServerEvent[]> {
  const points = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const pieces = points.slice(1).map((end, at) => bytes.subarray(points[at], end));
  const found: ServerEvent[] = [];
  async function* parts(): AsyncGenerator<Buffer> {
    yield* pieces;
  }
  for await (const event of readServerEvents(parts())) found.push(event);
  return found;
}

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n\0]/g, ''));

test('events are the same wherever the bytes are cut, and one without its blank line is not there', async () => {
  const event = fc.record({
    event: line.filter((text) => text !== ''),
    id: line,
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(event),
      fc.array(fc.nat()),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (events, cuts, eol) => {
        const text = events
          .map(({ event: name, id, data }) =>
            [`event: ${name}`, ': comment', `id: ${id}`, ...data.map((each) => `data: ${each}`), '', ''].join(eol),
          )
          .join('');
        const expected = events.map(({ event: name, id, data }) => ({ event: name, data: data.join('\n'), id }));
        assert.deepEqual(await eventsIn(Buffer.from(`${text}data: cut off`), cuts), expected);
      },
    ),
  );
});

test('a field without a value and a comment alone are no events', async () => {
  assert.deepEqual(await eventsIn(Buffer.from(': open\n\nid: 7\n\ndata\n\nretry: 1\ndata:x\n\n'), []), [
    { event: 'message', data: '', id: '7' },
    { event: 'message', data: 'x', id: '7' },
  ]);
});

test('an id that is not given again stays, and one with a NUL is none', async () => {
  assert.deepEqual(await eventsIn(Buffer.from('id: 7\ndata: a\n\nid: 8\0\ndata: b\n\n'), []), [
    { event: 'message', data: 'a', id: '7' },
    { event: 'message', data: 'b', id: '7' },
  ]);
});

test('the same events come out however lines end and bytes are cut', async () => {
  const words = fc.constantFrom('data: x', 'data:', 'data: ü', 'event: job', 'id: 3', ': note', '', 'retry: 9', 'odd');
  const ending = fc.constantFrom('\n', '\r\n', '\r');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(words, ending)), fc.array(fc.nat()), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((each) => each.join('')).join(''));
      assert.deepEqual(await eventsIn(bytes, cuts), await eventsIn(bytes, []));
    }),
  );
});
