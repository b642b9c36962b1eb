import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { soakTests } from '../../scripts/soak-tests.ts';
import { findTestFiles } from '../../scripts/test-needs.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Files that only a soak runs, and so do all of it. */
const whole = new Set(findTestFiles().files.flatMap(({ path, tier }) => (tier === 'soak' ? [path] : [])));

describe('what is left to the soak', () => {
  test('whole files that no other command runs are each part of one', () => {
    const named = new Set([...soakTests.values()].flatMap(({ files }) => files));
    assert.deepEqual(
      [...whole].filter((path) => !named.has(path)),
      [],
    );
    assert.ok(whole.size > 0);
  });

  for (const [name, { files, env }] of soakTests)
    test(`${name} is asked for by its files`, () => {
      const [[variable, value]] = Object.entries(env([])) as [[string, string]];
      for (const file of files.filter((path) => !whole.has(path))) {
        const sign = variable === 'MANTA_SOAK' ? `inSoak('${value}')` : `process.env['${variable}']`;
        // Scenarios are chosen in one place for all beds.
        const text = textOf(variable === 'MANTA_SCENARIOS' ? 'test/lab/scaling/chosen.ts' : file);
        assert.ok(text.includes(sign), `${file} has no ${sign}`);
      }
    });

  test('is named by its help', () => {
    const soak = fileURLToPath(new URL('../../scripts/soak.ts', import.meta.url));
    const { stdout } = spawnSync(process.execPath, [soak, '--help'], { encoding: 'utf8' });
    for (const name of soakTests.keys()) assert.match(stdout, new RegExp(`^ {2}npm run soak -- ${name}\\b`, 'm'));
  });
});
