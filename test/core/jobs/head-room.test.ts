import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headJobsIn } from '../../../src/core/jobs/head-room.ts';

const gibibytes = (count: number): number => count * 2 ** 30;

test('a head bears as many jobs that ask for nothing as its memory holds, some at least, and no more than the usual limit', () => {
  assert.equal(headJobsIn(gibibytes(1)), 4);
  assert.equal(headJobsIn(gibibytes(4)), 22);
  assert.equal(headJobsIn(gibibytes(8)), 54);
  assert.equal(headJobsIn(gibibytes(256)), 64);
});
