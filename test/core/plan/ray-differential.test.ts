// needs: ray-client

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RayPlanner } from '../../../scripts/ray-planner.ts';
import { plan } from '../../../src/core/plan/plan-cluster.ts';
import { ray } from '../../../src/core/plan/policy.ts';
import { toRayAnswer } from '../../../src/core/plan/ray-answer.ts';
import { readRayRequest } from '../../../src/core/plan/ray-form.ts';
import { readAnswer } from './answers.ts';
import { randomRequest } from './random-request.ts';

/** Other requests each time with `MANTA_SEED`, more of them with `MANTA_REQUESTS`. */
const firstSeed = Number(process.env['MANTA_SEED'] ?? 1_000_000);
const requests = Number(process.env['MANTA_REQUESTS'] ?? 2_000);

describe("beside Ray's own planner", () => {
  let planner: RayPlanner;
  before(async () => {
    planner = await RayPlanner.start();
  });
  after(() => planner.stop());

  it(`the ray policy agrees on ${requests} random requests, ties included, and answers where Ray crashes`, async () => {
    let crashed = 0;
    for (let seed = firstSeed; seed < firstSeed + requests; seed += 200) {
      const batch = Array.from({ length: Math.min(200, firstSeed + requests - seed) }, (_, at) => seed + at);
      const replies = await Promise.all(batch.map((one) => planner.plan(randomRequest(one))));
      for (const [at, theirs] of replies.entries()) {
        const request = readRayRequest(randomRequest(batch[at] as number), ray);
        const ours = readAnswer(toRayAnswer(plan(request.view, request.spec, request.now, ray), request));
        if ('error' in theirs) crashed++;
        else assert.deepEqual(ours, readAnswer(theirs), `MANTA_SEED=${batch[at]} MANTA_REQUESTS=1`);
      }
    }
    assert.ok(crashed < requests / 10, `Ray crashed on ${crashed} requests`);
  });
});
