import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSseParser, type Message } from '../../src/web/api/sse.ts';
import { fc } from '../property.ts';

function parse(chunks: readonly string[]): Message[] {
  const messages: Message[] = [];
  const parser = createSseParser((message) => messages.push(message));
  for (const chunk of chunks) parser.push(chunk);
  return messages;
}

test('an event carries its kind, its data and the last id', () => {
  assert.deepEqual(parse(['event: job\nid: 7\ndata: {"a":1}\n\ndata: x\n\n']), [
    { event: 'job', data: '{"a":1}', id: '7' },
    { event: 'message', data: 'x', id: '7' },
  ]);
});

test('comments are dropped, several data lines are joined, an unfinished event is dropped', () => {
  assert.deepEqual(parse([': beat\n\ndata: one\ndata:two\n\ndata: cut']), [
    { event: 'message', data: 'one\ntwo', id: '' },
  ]);
});

test('a carriage return and its line feed may come in two pieces', () => {
  assert.deepEqual(parse(['data: a\r', '\n\r', '\ndata: b\r\r']), [
    { event: 'message', data: 'a', id: '' },
    { event: 'message', data: 'b', id: '' },
  ]);
});

test('the same events come out however the stream is cut', () => {
  const line = fc.constantFrom('data: x', 'data:', 'event: job', 'id: 3', ': note', '', 'retry: 9', 'odd');
  const ending = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(fc.array(fc.tuple(line, ending)), fc.array(fc.nat({ max: 60 })), (lines, cuts) => {
      const text = lines.map(([words, end]) => words + end).join('');
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const chunks = places.slice(1).map((place, index) => text.slice(places[index], place));
      assert.deepEqual(parse(chunks), parse([text]));
    }),
  );
});
