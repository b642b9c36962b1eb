import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { providerTable } from '../../src/core/spec/provider-table.ts';
import { notRun } from '../../src/providers/not-run/table.ts';
import { providers, runnable } from '../../src/providers/table.ts';
import { tiny } from './recipe/tiny/descriptor.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the table of providers', () => {
  test('has each type once', () => {
    const names = [...runnable, ...notRun].map(({ name }) => name);
    assert.deepEqual(names.length, new Set(names).size);
  });

  test('has a key that several providers declare once, with what differs', () => {
    const key = providers.keys.filter(({ path }) => path === 'provider.availability_zone');
    assert.equal(key.length, 1);
    assert.deepEqual(key[0]?.providers, ['aws', 'gcp', 'lab_cloud', 'azure']);
    assert.equal(key[0]?.default, 'all zones of the region (aws), those that the cloud chooses (lab_cloud)');
  });

  test('declares a key of several providers in one shape', () => {
    for (const { path, shape, doc } of providers.keys)
      for (const { name, keys = [] } of providers.byName.values())
        for (const key of keys)
          if (key.path === path) assert.deepEqual([key.shape, key.doc], [shape, doc], `${path} of ${name}`);
  });

  test('is all that core knows of providers: another table has other ones', () => {
    const only = providerTable([tiny]);
    assert.deepEqual(only.names, ['tiny']);
    const named = only.keys.flatMap((key) => key.providers ?? []);
    assert.deepEqual([...new Set(named)], ['tiny']);
  });
});

test('nothing outside of the providers asks for one by its name', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter((file) => !file.startsWith('src/providers/'));
  const names = [...providers.byName.keys()].join('|');
  const asks = new RegExp(`provider\\.type\\s*[!=]==|[!=]==\\s*'(?:${names})'`);
  const asking = files.filter((file) => asks.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(asking, []);
});
