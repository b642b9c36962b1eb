// needs: cluster

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { draw, masked, record, recordingFile } from '../../scripts/recording.ts';

test('the recording in the README shows what its commands print, but for times and ids', async () => {
  const shown = readFileSync(recordingFile, 'utf8');
  assert.equal(masked(shown), masked(draw(await record())), 'run `node scripts/recording.ts` and commit the picture');
});

test('what a command prints differently is seen', () => {
  const drawn = (output: string): string => masked(draw([{ command: 'manta status', output }]));
  assert.equal(drawn('runs since 2026-01-31 12:00:00, 3s  x'), drawn('runs since 2027-02-01 08:30:59, 12s x'));
  assert.notEqual(drawn('3 workers'), drawn('2 workers'));
});

test('the recording is not part of the package', () => {
  const { files } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    files: readonly string[];
  };
  assert.ok(!files.some((name) => recordingFile.includes(`/${name}/`)), files.join(', '));
});
