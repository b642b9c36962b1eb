import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { declaredErrors, declaredEvents, root } from '../../scripts/docs/declared.ts';

const codesIn = (path: string): ReadonlySet<string> =>
  new Set(readFileSync(join(root, path), 'utf8').match(/\bMANTA_[A-Z]+_[A-Z_]+\b|\bMANTA_INTERRUPTED\b/g));

test('docs/troubleshooting.md names errors and events that there are, and every one that the fault tests cause', async () => {
  const declared = new Set([...(await declaredErrors()), ...(await declaredEvents())].map(({ code }) => code));
  const named = codesIn('docs/troubleshooting.md');
  assert.deepEqual(
    [...named].filter((code) => !declared.has(code)),
    [],
  );
  const errors = new Set((await declaredErrors()).map(({ code }) => code));
  const caused = globSync('test/lab/faults-*.test.ts', { cwd: root }).flatMap((path) => [...codesIn(path)]);
  assert.deepEqual(
    caused.filter((code) => errors.has(code) && !named.has(code)),
    [],
  );
});
