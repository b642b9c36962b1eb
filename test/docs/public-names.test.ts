import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/docs/declared.ts';
import { publicNames } from '../../scripts/docs/public-names.ts';

const file = 'test/docs/public-names.txt';
const promised = readFileSync(join(root, file), 'utf8').trim().split('\n');
const now = [...new Set(await publicNames())];

test('no code, route, field, flag, key or file that scripts may rely on is gone or means something else', () => {
  const gone = promised.filter((line) => !now.includes(line));
  assert.deepEqual(gone, [], `these were promised in ${file}`);
});

test('whatever scripts may rely on from now on is written down', () => {
  const fresh = now.filter((line) => !promised.includes(line));
  assert.deepEqual(fresh, [], `add these lines to ${file}`);
});
