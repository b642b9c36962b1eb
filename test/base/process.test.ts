import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import {
  endProcesses,
  findMarked,
  identify,
  isAlive,
  markOf,
  marksOf,
  markVariable,
  processesIn,
  processTable,
  proportionalMemory,
  startedSince,
  withDescendants,
} from '../../src/base/process.ts';
import { until } from '../contract/waiting.ts';

const byNumber = (a: number, b: number): number => a - b;

/** A shell that stays; ended with the test. */
function start(
  t: TestContext,
  script: string,
  options: { mark?: string; cwd?: string } = {},
): ChildProcess & { pid: number } {
  const env = { ...process.env, ...(options.mark === undefined ? {} : { [markVariable]: options.mark }) };
  const child = spawn('sh', ['-c', script], {
    env,
    stdio: 'ignore',
    detached: true,
    ...(options.cwd ? { cwd: options.cwd } : {}),
  });
  const { pid } = child;
  assert.ok(pid);
  t.after(() => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {}
  });
  return Object.assign(child, { pid });
}

test('this process is in the table, below its parent', () => {
  const me = processTable().find((row) => row.pid === process.pid);
  assert.equal(me?.parent, process.ppid);
  assert.ok((me?.resident ?? 0) > 1 << 20);
  assert.ok(proportionalMemory([process.pid]) > 1 << 20);
  assert.ok(me && startedSince(me, processTable()).some((row) => row.pid === process.pid));
});

test('a process is known by its number and its start, and a dead one is not alive', async (t) => {
  const child = start(t, 'sleep 1000');
  const identity = identify(child.pid);
  assert.ok(identity && isAlive(identity));
  assert.equal(isAlive({ ...identity, started: 'another time' }), false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(isAlive(identity), false);
  assert.equal(identify(child.pid), undefined);
});

test('a zombie is not alive', async (t) => {
  // The shell does not wait for its child before it is told to go on.
  const shell = start(t, 'true & exec sleep 1000');
  await until('the child is a zombie', () => !processTable().some((row) => row.parent === shell.pid));
});

test('a mark is inherited, and one word of it does not match a longer one', async (t) => {
  const word = `word-${process.pid}`;
  const shell = start(t, 'sleep 1000 & wait', { mark: markOf(word, 'other') });
  const found = await until('both are up', () => {
    const pids = findMarked(word);
    return pids.length === 2 && pids;
  });
  assert.ok(found.includes(shell.pid));
  assert.deepEqual(findMarked(`${word}-longer`), []);
  assert.deepEqual(findMarked(word.slice(0, -1)), []);
  assert.match(marksOf(processTable()).get(shell.pid) ?? '', new RegExp(`:${word}:other:$`));
  assert.deepEqual(
    withDescendants(
      processTable(),
      processTable().filter((row) => row.pid === shell.pid),
    ).toSorted(byNumber),
    found.toSorted(byNumber),
  );
});

test('ending is polite, then not', async (t) => {
  const word = `end-${process.pid}`;
  const mark = markOf(word);
  const polite = start(t, 'trap "exit 9" TERM; while :; do sleep 0.01; done', { mark });
  const deaf = start(t, 'trap "" TERM; while :; do sleep 0.01; done', { mark });
  const exits = Promise.all([once(polite, 'exit'), once(deaf, 'exit')]);
  // The loop runs only after the trap is set.
  for (const shell of [polite, deaf])
    await until('it loops', () => processTable().some((row) => row.parent === shell.pid));
  assert.deepEqual(await endProcesses(() => findMarked(word), 500), []);
  const [[code], [, signal]] = await exits;
  assert.equal(code, 9);
  assert.equal(signal, 'SIGKILL');
});

test('processes are found by the folder that they work in', {
  skip: process.platform !== 'linux' && 'Linux tells it',
}, async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'manta-cwd-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const shell = start(t, 'exec sleep 1000', { cwd: folder });
  await until('it is found', () => processesIn(folder, processTable()).includes(shell.pid));
  assert.deepEqual(processesIn(`${folder}x`, processTable()), []);
});
