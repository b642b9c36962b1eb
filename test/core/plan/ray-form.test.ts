import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planErrors } from '../../../src/core/plan/errors.ts';
import { plan } from '../../../src/core/plan/plan-cluster.ts';
import { manta, ray } from '../../../src/core/plan/policy.ts';
import { toRayAnswer } from '../../../src/core/plan/ray-answer.ts';
import { readRayRequest } from '../../../src/core/plan/ray-form.ts';
import { Random } from './random.ts';
import { randomRequest } from './random-request.ts';

const junk = ['null', '-1', '0', '1e308', '0.5', '1e-9', '"x"', '""', '"12"', 'true', '[]', '[[]]', '{}', '{"a":1}'];

/** A random request with a few of its values replaced by others of any kind. */
function damaged(seed: number): unknown {
  const request = randomRequest(seed);
  const random = new Random(seed + 77);
  for (let times = random.int(1, 3); times > 0; times--) {
    let inside = request as Record<string, unknown>;
    let key = random.pick(Object.keys(inside));
    for (
      let next = inside[key];
      typeof next === 'object' && next !== null && !random.chance(0.25);
      next = inside[key]
    ) {
      if (Object.keys(next).length === 0) break;
      inside = next as Record<string, unknown>;
      key = random.pick(Object.keys(inside));
    }
    inside[key] = JSON.parse(random.pick(junk));
  }
  return request;
}

describe("requests in the form of Ray's planner", () => {
  it('are answered or refused with the place of the fault, however damaged', () => {
    let answered = 0;
    let refused = 0;
    for (let seed = 0; seed < 2_000; seed++)
      for (const policy of [manta, ray])
        try {
          const request = readRayRequest(damaged(seed), policy);
          toRayAnswer(plan(request.view, request.spec, request.now, policy), request);
          answered++;
        } catch (error) {
          assert.ok(planErrors.BadRequest.is(error), `seed ${seed}: ${String(error)}`);
          refused++;
        }
    assert.ok(answered > 500 && refused > 500, `${answered} answered, ${refused} refused`);
  });

  it('keep resources and labels whose names every object has', () => {
    const text = `{
      "node_type_configs": {
        "constructor": {"resources": {"CPU": 1, "__proto__": 2}, "labels": {"__proto__": "x"}, "max_worker_nodes": 3}
      },
      "resource_requests": [{"request": {"resources_bundle": {"__proto__": 1}}, "count": 4}]
    }`;
    for (const policy of [manta, ray]) {
      const request = readRayRequest(JSON.parse(text), policy);
      assert.deepEqual(Object.entries(request.spec.nodeTypes[0]?.labels ?? {}), [['__proto__', 'x']]);
      const answer = plan(request.view, request.spec, request.now, policy);
      assert.deepEqual(
        answer.actions.map((action) => (action.kind === 'launch' ? [action.type, action.count] : action.kind)),
        [['constructor', 2]],
      );
      assert.deepEqual(Object.entries(answer.resources), [
        ['CPU', 2],
        ['__proto__', 4],
      ]);
    }
  });
});
