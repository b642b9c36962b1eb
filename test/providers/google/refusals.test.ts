import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MantaError } from '../../../src/base/errors.ts';
import { failureOf, GoogleFailure, lateRefusalOf, refusalOf } from '../../../src/providers/google/client/refusals.ts';

const about = { call: 'instances.insert', type: 'worker', zone: 'us-west1-a' };
const codeOf = (failure: Error): string => (refusalOf(about, failure) as MantaError).code;

test('what Google refuses an operation for decides what is done next', () => {
  for (const [reason, code] of [
    ['ZONE_RESOURCE_POOL_EXHAUSTED', 'MANTA_PROVIDER_NO_CAPACITY'],
    ['ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', 'MANTA_PROVIDER_NO_CAPACITY'],
    ['STOCKOUT', 'MANTA_PROVIDER_NO_CAPACITY'],
    ['QUOTA_EXCEEDED', 'MANTA_PROVIDER_QUOTA'],
    ['RESOURCE_OPERATION_RATE_EXCEEDED', 'MANTA_PROVIDER_THROTTLED'],
    ['CONDITION_NOT_MET', 'MANTA_PROVIDER_DENIED'],
    ['PERMISSIONS_ERROR', 'MANTA_PROVIDER_DENIED'],
  ] as const)
    assert.equal(codeOf(new GoogleFailure(400, reason, reason)), code, reason);
});

test('what Google answers to a call decides what is done next', () => {
  const answer = (status: number, reason: string): Error =>
    failureOf(status, { error: { message: 'no', errors: [{ reason }] } });
  assert.equal(codeOf(answer(403, 'rateLimitExceeded')), 'MANTA_PROVIDER_THROTTLED');
  assert.equal(codeOf(answer(503, 'backendError')), 'MANTA_PROVIDER_THROTTLED');
  assert.equal(codeOf(answer(500, 'internalError')), 'MANTA_PROVIDER_UNREACHABLE');
  assert.equal(codeOf(answer(403, 'forbidden')), 'MANTA_PROVIDER_DENIED');
  assert.equal(codeOf(answer(401, 'authError')), 'MANTA_GOOGLE_LOGIN_EXPIRED');
  assert.equal(codeOf(failureOf(502, '<html>')), 'MANTA_PROVIDER_UNREACHABLE');
  assert.equal(codeOf(new Error('socket hang up')), 'MANTA_PROVIDER_UNREACHABLE');
});

test('too many calls and a quota of TPUs are told apart by their words', () => {
  const told = (message: string): Error => failureOf(429, { error: { message, status: 'RESOURCE_EXHAUSTED' } });
  assert.equal(codeOf(told('Quota exceeded for quota metric')), 'MANTA_PROVIDER_THROTTLED');
  assert.equal(codeOf(told("Quota limit 'TPUV4sPerProjectPerZone' has been exceeded.")), 'MANTA_PROVIDER_QUOTA');
});

test('a quota closes what Google names', () => {
  const closes = (dimensions: Record<string, string> | undefined, message: string): unknown =>
    lateRefusalOf(new GoogleFailure(403, 'QUOTA_EXCEEDED', message, dimensions ? [{ quotaInfo: { dimensions } }] : []))
      .closes;
  assert.equal(closes({ zone: 'us-west1-a' }, ''), 'zone');
  assert.equal(closes({ region: 'us-west1' }, ''), 'region');
  assert.equal(closes({ global: 'global' }, ''), 'project');
  assert.equal(closes(undefined, "Quota 'GPUS_ALL_REGIONS' exceeded."), 'project');
  assert.equal(closes(undefined, "Quota 'CPUS' exceeded."), 'region');
});

test('slices without room are asked for elsewhere', () => {
  const operation = (code: number, message: string): Error => new GoogleFailure(0, String(code), message);
  assert.equal(codeOf(operation(8, 'There is no more capacity in the zone')), 'MANTA_PROVIDER_NO_CAPACITY');
  assert.equal(codeOf(operation(8, 'Insufficient reserved capacity.')), 'MANTA_PROVIDER_NO_CAPACITY');
  assert.equal(codeOf(operation(9, 'Constraint constraints/x violated')), 'MANTA_PROVIDER_DENIED');
});
