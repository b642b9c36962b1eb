import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { olderRayVersion, rayVersion, releaseOf, tokensSince, untested } from '../../src/core/ray-version.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('a version of ray', () => {
  it('is tested from 2.54 to 2.60, and anything else is said', () => {
    for (const inside of ['2.54.0', '2.58.1', '2.60.0', '2.60.3rc0']) assert.equal(untested(inside), undefined);
    for (const outside of ['2.53.9', '2.61.0', '3.0.0.dev0', '', 'nightly']) assert.ok(untested(outside));
    assert.deepEqual(untested('2.61.0'), { version: '2.61.0', oldest: '2.54', newest: '2.60' });
  });

  it('is written down in one source file', () => {
    const releases = [rayVersion, olderRayVersion, tokensSince].map((version) => releaseOf(version));
    const named = new RegExp(`\\b(?:${releases.map((release) => release.replace('.', '\\.')).join('|')})\\b`);
    const files = ['src', 'scripts', 'lab'].flatMap((folder) =>
      globSync(`${folder}/**/*.{ts,tsx,py,sh}`, { cwd: root }),
    );
    assert.ok(files.length > 300);
    const holders = files.filter((file) => named.test(readFileSync(join(root, file), 'utf8')));
    assert.deepEqual(holders, ['src/core/ray-version.ts']);
  });
});
