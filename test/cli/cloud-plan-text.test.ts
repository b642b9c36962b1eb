import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cloudPlanText } from '../../src/cli/commands/up/cloud-plan-text.ts';

test('a plan counts slices as the file does, and says how many hosts each has', () => {
  const offer = { zone: 'us-central2-b', market: 'spot' } as const;
  const shown = cloudPlanText({
    ...{ cluster: 'c', provider: 'gcp', known: false, clusterId: '1', wanted: 2, steps: [], warnings: [] },
    head: { action: 'launch', type: 'head', offers: [offer] },
    workers: [
      { type: 'slice', machine: 'v4-16', min: 2, max: 8, hostsPerSlice: 2, offer },
      { type: 'host', machine: 'v4-8', min: 0, max: 4, offer },
    ],
  });
  assert.match(shown, /^ {2}workers {2}slice \(v4-16\): 1 to 4 slices of 2 hosts, spot in us-central2-b/m);
  assert.match(shown, /^ {2}workers {2}host \(v4-8\): 0 to 4, spot in us-central2-b/m);
});
