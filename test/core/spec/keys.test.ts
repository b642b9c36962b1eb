import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { explainKey, nearestKey } from '../../../src/core/spec/keys/explain.ts';
import { nearest } from '../../../src/core/spec/keys/nearest.ts';
import { keyReference } from '../../../src/core/spec/keys/reference.ts';
import { clusterSchema } from '../../../src/core/spec/keys/schema.ts';
import type { KeyNode } from '../../../src/core/spec/keys/table.ts';
import { providers } from '../../../src/providers/table.ts';
import { codesOf, specOf } from './cluster-text.ts';

const { keys, keyTree } = providers;
const page = readFileSync(new URL('../../../docs/cluster-yaml.md', import.meta.url), 'utf8');

describe('the key table', () => {
  test('has each key once, with its parents', () => {
    const paths = keys.map((key) => key.path);
    assert.equal(new Set(paths).size, paths.length);
    for (const path of paths) {
      const parent = path.slice(0, path.lastIndexOf('.'));
      if (path.includes('.')) assert.ok(paths.includes(parent), `${path} has no parent`);
    }
  });

  test('says something of every key in one line', () => {
    for (const key of keys) assert.match(key.doc, /^[^\n]{8,}\.$/, key.path);
  });

  test('names providers that exist', () => {
    for (const key of keys)
      for (const provider of key.providers ?? []) assert.ok(providers.byName.has(provider), `${key.path}: ${provider}`);
  });
});

describe('docs/cluster-yaml.md', () => {
  test('lists every key and nothing else', () => {
    const listed = [...page.matchAll(/^\| `([a-z_.<>A-Z]+)` \|/gm)].map((row) => row[1]);
    assert.deepEqual(
      listed.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
      keys.map((key) => key.path).toSorted((a, b) => (a < b ? -1 : 1)),
    );
  });

  test('opens with a file that nothing can be said against', () => {
    const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';
    assert.deepEqual(codesOf(example), []);
    assert.equal(specOf(example).name, 'training');
  });

  test('is what `manta config explain --markdown` prints', () => {
    assert.ok(page.includes(keyReference(keys).trim()));
  });
});

describe('explain', () => {
  test('finds a key by its path, its last part, and with names in it', () => {
    const found = (asked: string): string[] => explainKey(keys, asked).keys.map((key) => key.path);
    assert.deepEqual(found('docker.image'), ['docker.image']);
    assert.deepEqual(found('ssh_user'), ['auth.ssh_user']);
    assert.deepEqual(found('min_workers'), [
      'available_node_types.<type>.min_workers',
      'provider.manta.pools.<type>.min_workers',
      'min_workers',
    ]);
    assert.deepEqual(found('available_node_types.ray.head.default.resources.CPU'), [
      'available_node_types.<type>.resources.<name>',
    ]);
    assert.deepEqual(found('nonsense'), []);
  });

  test('shows the example and what a legacy key is today', () => {
    assert.match(explainKey(keys, 'initial_workers').text, /today: +provider\.manta/);
  });

  test('lists what stands under a key, and under a name in it, one line each', () => {
    assert.match(
      explainKey(keys, 'provider.manta').text,
      /\n {2}keys:\n(?: {4}\w+ {2,}\S.*\n)* {4}node_types {2,}Extra settings/,
    );
    const types = explainKey(keys, 'available_node_types').text;
    for (const name of ['<type> ', '<type>.resources ', '<type>.min_workers '])
      assert.ok(types.includes(`\n    ${name}`), name);
    assert.ok(!types.includes('<type>.resources.<name>'));
    for (const key of keys.filter((each) => keys.some((other) => other.path.startsWith(`${each.path}.`))))
      assert.match(explainKey(keys, key.path).text, /\n {2}keys:\n/, key.path);
    assert.doesNotMatch(explainKey(keys, 'cluster_name').text, /keys:/);
  });

  test('names the nearest key', () => {
    assert.equal(nearestKey(keys, 'max_wrkers'), 'max_workers');
    assert.equal(nearestKey(keys, 'docker.imgae'), 'docker.image');
  });
});

describe('the nearest word', () => {
  test('is found by few steps, and not at all when it is far', () => {
    assert.equal(nearest('cluster-name', ['cluster_name', 'max_workers']), 'cluster_name');
    assert.equal(nearest('min_wokrers', ['max_workers', 'min_workers']), 'min_workers');
    assert.equal(nearest('b', ['a']), undefined);
    assert.equal(nearest('hello', ['cluster_name']), undefined);
  });
});

describe('the JSON Schema', () => {
  interface Schema {
    readonly properties?: Record<string, Schema>;
    readonly additionalProperties?: Schema | boolean;
    readonly required?: readonly string[];
  }

  test('has a place for every key', () => {
    const walk = (node: KeyNode, schema: Schema | undefined): void => {
      assert.ok(schema, node.key.path);
      for (const [name, child] of node.children) walk(child, schema.properties?.[name]);
      if (node.named) walk(node.named, schema.additionalProperties as Schema);
    };
    walk(keyTree, clusterSchema(keyTree));
  });

  test('asks for a provider and its type, and allows no other keys at the top', () => {
    const schema: Schema = clusterSchema(keyTree);
    assert.deepEqual(schema.required, ['provider']);
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.properties?.provider?.required, ['type']);
    assert.equal(schema.properties?.provider?.additionalProperties, true);
  });
});
