// needs: ray-client

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { pythonJson } from '../../../../src/core/spec/ray/json.ts';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';
import { rayPythons } from '../../../jobs/ray-python.ts';
import { fc } from '../../../property.ts';
import { seed, yamlText } from './texts.ts';

/** Reads JSON lines of texts, writes a line each: the value as JSON text with named and sorted keys, or why there is none. */
const oracle = `
import sys, json, datetime, yaml
def named(v, inside=()):
    if isinstance(v, (bytes, set)): raise KeyError('no part of JSON')
    if id(v) in inside: raise KeyError('recursive')
    if isinstance(v, (list, tuple)): return [named(x, inside + (id(v),)) for x in v]
    if isinstance(v, dict): return {key(k): named(x, inside + (id(v),)) for k, x in v.items()}
    return str(v) if isinstance(v, datetime.date) else v
def key(k):
    if isinstance(k, (str, datetime.date)): return str(k)
    if isinstance(k, bytes): raise KeyError('no part of JSON')
    return json.dumps(k)
for line in sys.stdin:
    try: value = yaml.safe_load(json.loads(line))
    except Exception as e: print(json.dumps({'refused': str(e)})); continue
    try: print(json.dumps({'json': json.dumps(named(value), sort_keys=True)}))
    except KeyError as e: print(json.dumps({'refused': str(e)}))
`;

const python = [...rayPythons().map((each) => each.python), 'python3'].find(
  (each) => spawnSync(each, ['-c', 'import yaml']).status === 0,
);

test('PyYAML accepts the same texts and gives the same values', {
  skip: python ? false : 'no Python with PyYAML: neither that of a Ray nor python3 on PATH has it',
}, (t) => {
  t.diagnostic(`seed ${seed}; another one by MANTA_SEED`);
  const texts = fc.sample(yamlText, { seed, numRuns: 4000 });
  const answers = spawnSync(python ?? 'python3', ['-c', oracle], {
    input: texts.map((text) => `${JSON.stringify(text)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  assert.equal(answers.status, 0, answers.stderr);
  const lines = answers.stdout.trimEnd().split('\n');
  assert.equal(lines.length, texts.length);
  let accepted = 0;
  for (const [index, text] of texts.entries()) {
    const theirs = JSON.parse(lines[index] as string) as { json?: string; refused?: string };
    const ours = readYaml('cluster.yaml', text);
    if ('problems' in ours) {
      assert.equal(theirs.json, undefined, `refused (${ours.problems[0]?.message}): ${JSON.stringify(text)}`);
    } else {
      assert.equal(theirs.refused, undefined, `accepted: ${JSON.stringify(text)}`);
      assertSameJson(pythonJson(ours.source.value, { sortKeys: true }), theirs.json as string, text);
      accepted += 1;
    }
  }
  t.diagnostic(`${texts.length} texts, ${accepted} accepted by both`);
  assert.ok(accepted > 300);
});

/** A number that is the whole document has no collection to remember that it is a float. */
function assertSameJson(ours: string, theirs: string, text: string): void {
  if (/^-?[\d.]/.test(theirs)) assert.equal(Number(ours), Number(theirs), text);
  else assert.equal(ours, theirs, JSON.stringify(text));
}
