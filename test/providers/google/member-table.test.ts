// needs: botocore, google-discovery

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { googleTable, googleTableText } from '../../../scripts/cloud-models.ts';

test('the members of instances and slices are those of the discovery documents', () => {
  assert.equal(readFileSync(googleTable, 'utf8'), googleTableText(), "run 'node scripts/cloud-models.ts'");
});
