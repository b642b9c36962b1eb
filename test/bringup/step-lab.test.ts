// needs: hosts

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Lab } from '../../lab/lab.ts';
import { labProblem, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';

const program = fileURLToPath(new URL('./follow-step.ts', import.meta.url));

interface Followed {
  readonly child: ChildProcess;
  /** Everything said so far, then one line with the outcome. */
  readonly output: () => string;
  readonly reattached: () => string;
  readonly outcome: Promise<unknown>;
}

function follow({ laptop }: Lab, id: string, text: string): Followed {
  const child = laptop.spawn(['node', program, 'h1', id, text], { stdio: 'pipe' });
  let output = '';
  let reattached = '';
  child.stdout?.on('data', (piece: Buffer) => {
    output += piece.toString();
  });
  child.stderr?.on('data', (piece: Buffer) => {
    reattached += piece.toString();
  });
  child.stdin?.end();
  const outcome = once(child, 'close').then(() => {
    const line = output.trimEnd().split('\n').at(-1) ?? '';
    assert.match(line, /^\{/, output + reattached);
    return JSON.parse(line) as unknown;
  });
  return { child, output: () => output, reattached: () => reattached, outcome };
}

async function lab(t: TestContext): Promise<Lab> {
  const opened = await openLab({ hosts: 1, node: true });
  t.after(() => opened.close());
  return opened;
}

const skip = labProblem() ?? false;
const counting = (count: number): string => `for i in $(seq 1 ${count}); do echo $i; sleep 0.25; done; exit 4`;
const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at + 1}\n`).join('');

test('a step goes on while the cable is out, and is followed to its end when it is back', { skip }, async (t) => {
  const bed = await lab(t);
  const [host] = bed.hosts;
  const step = follow(bed, 'a', counting(100));
  await until('it has begun', () => step.output().includes('5\n'));
  await host?.cut();
  await until('the connection is given up', () => step.reattached() !== '');
  await host?.mend();
  assert.deepEqual(await step.outcome, { code: 4 });
  assert.ok(step.output().startsWith(`${numbers(100)}\n`), step.output());
});

test('a step that the host went down under is lost to the reboot', { skip }, async (t) => {
  const bed = await lab(t);
  const step = follow(bed, 'a', counting(10_000));
  await until('it has begun', () => step.output().includes('2\n'));
  await bed.hosts[0]?.reboot();
  assert.deepEqual(await step.outcome, {
    error: 'MANTA_STEP_LOST',
    data: { host: 'h1', step: 'a', why: 'reboot', words: 'the machine rebooted while it was running' },
  });
});

test('the laptop dies, and its next life takes the step up where it is', { skip }, async (t) => {
  const bed = await lab(t);
  const first = follow(bed, 'a', counting(20));
  await until('it has begun', () => first.output().includes('2\n'));
  first.child.kill('SIGKILL');
  await assert.rejects(first.outcome);
  const second = follow(bed, 'a', 'echo another program');
  assert.deepEqual(await second.outcome, { code: 4 });
  assert.ok(second.output().startsWith(`${numbers(20)}\n`), second.output());
});

test('a full disk and an sshd that is away are told', { skip }, async (t) => {
  const bed = await lab(t);
  const [host] = bed.hosts;
  assert.ok(host);
  await host.fillDisk();
  const full = (await follow(bed, 'a', 'true').outcome) as { error?: string };
  assert.equal(full.error, 'MANTA_STEP_DISK_FULL', JSON.stringify(full));
  await host.freeDisk();
  const step = follow(bed, 'b', counting(20));
  await until('it has begun', () => step.output().includes('2\n'));
  await host.refuse();
  await host.dropConnections();
  await until('it is refused', () => step.reattached().includes('MANTA_SSH_REFUSED'));
  await host.accept();
  assert.deepEqual(await step.outcome, { code: 4 });
  assert.ok(step.output().startsWith(`${numbers(20)}\n`), step.output());
});
