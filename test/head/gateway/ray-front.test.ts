import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rayFront } from '../../../src/head/gateway/ray-front.ts';

const frontOf = (told: () => string | undefined) =>
  rayFront({
    engine: {
      value: async () => {
        const text = told();
        return text === undefined ? undefined : Buffer.from(text);
      },
      jobsOfOthers: async () => [],
      drivers: async () => new Map(),
      driverOf: async () => undefined,
      announceMetrics: async () => {},
    },
    dashboardPort: 8264,
    head: '10.0.0.5',
  });

test('the dashboard is where it was told to be, until nobody is there', async () => {
  let told: string | undefined = '127.0.0.1:9000';
  const front = frontOf(() => told);
  assert.equal(front.address, '127.0.0.1:8264', 'what Ray’s store says is not asked for before');
  await front.lookAgain();
  assert.equal(front.address, '127.0.0.1:9000');
  told = '10.0.0.5:9001';
  await front.lookAgain();
  assert.equal(front.address, '10.0.0.5:9001');
  told = undefined;
  await front.lookAgain();
  assert.equal(front.address, '127.0.0.1:8264');
});

test('a place that is not on the head is no place of its dashboard', async () => {
  for (const text of [
    '10.0.0.6:8265',
    'evil.example:80',
    '127.0.0.1',
    '127.0.0.1:x',
    'http://127.0.0.1:1',
    '@127.0.0.1:1',
    '',
  ]) {
    const front = frontOf(() => text);
    await front.lookAgain();
    assert.equal(front.address, '127.0.0.1:8264', text);
  }
});

test('Ray that says nothing leaves the place as it was told', async () => {
  const front = rayFront({
    engine: {
      value: () => Promise.reject(new Error('gone')),
      jobsOfOthers: async () => [],
      drivers: async () => new Map(),
      driverOf: async () => undefined,
      announceMetrics: () => Promise.reject(new Error('gone')),
    },
    dashboardPort: 8264,
    head: '10.0.0.5',
  });
  await front.lookAgain();
  assert.equal(front.address, '127.0.0.1:8264');
  assert.equal(front.version, undefined);
});
