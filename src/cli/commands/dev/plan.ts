import { createInterface } from 'node:readline';
import { messageOf } from '../../../base/errors.ts';
import { planErrors } from '../../../core/plan/errors.ts';
import { nodeTypeOrder } from '../../../core/plan/packing/ray-order.ts';
import { plan } from '../../../core/plan/plan-cluster.ts';
import { manta, type Policy, ray } from '../../../core/plan/policy.ts';
import { toRayAnswer } from '../../../core/plan/ray-answer.ts';
import { readRayRequest } from '../../../core/plan/ray-form.ts';
import type { Run } from '../../command.ts';
import type { devPlanOptions } from './declaration.ts';

export const run: Run<typeof devPlanOptions> = async ({ options }, io) => {
  const policy = options.asRay ? ray : manta;
  let number = 0;
  let bad = false;
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    io.signal.throwIfAborted();
    number++;
    if (line.trim() === '') continue;
    const answer = answerTo(line, number, policy);
    bad ||= 'error' in answer;
    io.out(`${JSON.stringify(answer)}\n`);
  }
  return bad ? 1 : 0;
};

function answerTo(line: string, number: number, policy: Policy): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const message = messageOf(error);
    const position = /at position (\d+)/.exec(message)?.[1];
    return {
      error: {
        line: number,
        column: position === undefined ? 1 : Number(position) + 1,
        message: `not JSON: ${message}`,
      },
    };
  }
  try {
    const request = readRayRequest(value, policy, nodeTypeOrder(line, value));
    return toRayAnswer(plan(request.view, request.spec, request.now, policy), request);
  } catch (error) {
    if (!planErrors.BadRequest.is(error)) throw error;
    const { path, problem } = error.data;
    return { error: { line: number, column: 1, path, message: problem } };
  }
}
