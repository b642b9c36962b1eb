// needs: botocore, google-discovery

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { memberTable, memberTableText } from '../../../scripts/cloud-models.ts';

test('the members of a launch are those of the model', () => {
  assert.equal(readFileSync(memberTable, 'utf8'), memberTableText(), "run 'node scripts/cloud-models.ts'");
});
