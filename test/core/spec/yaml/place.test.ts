import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Path } from '../../../../src/core/spec/problem.ts';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';

const text = [
  '# a comment',
  'name: "é😀" # the name',
  'types:',
  '  head: &head',
  '    cpu: 1',
  '',
  '    # of the head',
  '  worker: {<<: *head, disk: [1, 2]}',
  'copy: *head',
  'none:',
  '8: x',
  '1: y',
  '',
].join('\n');
const result = readYaml('cluster.yaml', text);
assert.ok('source' in result);
const { source } = result;
const at = (path: Path): string => `${source.at(path).line}:${source.at(path).column}`;
const keyAt = (path: Path): string => `${source.keyAt(path).line}:${source.keyAt(path).column}`;
const written = (path: Path): string | undefined => {
  const place = source.rangeOf(path);
  return place && text.slice(place.value.start, place.value.end);
};

test('values and keys have positions', () => {
  assert.equal(at(['name']), '2:7');
  assert.equal(keyAt(['name']), '2:1');
  assert.equal(at(['types', 'worker', 'disk', 1]), '8:33');
  assert.equal(keyAt(['types', 'worker', 'disk']), '8:23');
});

test('what is not there has the position of the nearest thing around it', () => {
  assert.equal(at(['types', 'worker', 'gpu', 3]), at(['types', 'worker']));
  assert.equal(keyAt(['types', 'worker', 'gpu']), '8:3');
  assert.equal(source.rangeOf(['types', 'gpu']), undefined);
});

test('what a merge brings in stands where it was written', () => {
  assert.equal(at(['types', 'worker', 'cpu']), '5:10');
  assert.equal(source.rangeOf(['types', 'worker', 'cpu'])?.shared, true);
  assert.equal(source.rangeOf(['types', 'head', 'cpu'])?.shared, false);
});

test('ranges hold the text of a value and nothing behind it', () => {
  assert.equal(written(['name']), '"é😀"');
  assert.equal(written(['types', 'head']), '&head\n    cpu: 1');
  assert.equal(written(['types', 'worker']), '{<<: *head, disk: [1, 2]}');
  assert.equal(written(['copy']), '*head');
  assert.equal(written(['none']), '');
  const key = source.rangeOf(['copy'])?.key;
  assert.equal(text.slice(key?.start, key?.end), 'copy');
});

test('keys keep the order of the file', () => {
  assert.deepEqual(source.keys([]), ['name', 'types', 'copy', 'none', '8', '1']);
  assert.deepEqual(source.keys(['name']), []);
});

test('columns count characters', () => {
  assert.deepEqual(source.positionOf(text.indexOf('# the name')), { line: 2, column: 12 });
});
