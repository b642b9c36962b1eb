import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownValue } from '../../src/base/own-value.ts';
import { optionalNumberAt } from '../../src/core/plan/ray-fields.ts';
import { changedKeys } from '../../src/core/spec/changes.ts';
import { readYaml } from '../../src/core/spec/yaml/read.ts';
import { expandVariables } from '../../src/jobs/packages/env-variables.ts';

const inherited = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

test('a name that every object has is looked up like any other', () => {
  for (const name of inherited) {
    assert.equal(ownValue({ a: 1 }, name), undefined, name);
    assert.equal(ownValue(Object.fromEntries([[name, 1]]), name), 1, name);
    assert.equal(optionalNumberAt({}, name, ''), undefined, name);
  }
});

test('a key of a cluster file that is called like a member of every object is an unknown key', () => {
  for (const name of inherited) {
    const [change] = changedKeys({}, Object.fromEntries([[name, 1]]));
    assert.deepEqual([change?.key, change?.before, change?.after, change?.effect], [name, undefined, 1, 'settings']);
  }
});

test('a word that is no boolean is refused as one, whatever it is called', () => {
  for (const name of inherited) {
    const { problems } = readYaml('a.yaml', `a: !!bool ${name}\n`) as { problems?: readonly unknown[] };
    assert.equal(problems?.length, 1, name);
  }
});

test('a variable that nobody set stays as it is written, whatever it is called', () => {
  const vars = { A: '$constructor', B: '$__proto__' };
  assert.deepEqual(expandVariables(vars, {}), vars);
});
