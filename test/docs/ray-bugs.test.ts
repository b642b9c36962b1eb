import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);

test('docs/ray-bugs.md names a test for each fault of Ray, and each of them is there', () => {
  const rows = readFileSync(new URL('docs/ray-bugs.md', root), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const found = /^\| (\d+) \|.*\| `([^`]+)`: (.+) \|$/.exec(line);
      return found ? [{ number: Number(found[1]), file: found[2]!, title: found[3]!.replaceAll('\\`', '`') }] : [];
    });
  assert.deepEqual([...new Set(rows.map(({ number }) => number))], [1, 2, 3, 4, 5, 6, 8, 9, 10, 11]);
  for (const { file, title } of rows)
    assert.ok(readFileSync(new URL(file, root), 'utf8').includes(title), `${file} has no test '${title}'`);
});
