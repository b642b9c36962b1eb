// needs: ray, hosts

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { FaultBed, type Running, readable, unadorned } from './fault-bed.ts';

/** `FAULT_SEED=1234` cuts at the moments of an earlier run. */
const seed = Number(process.env['FAULT_SEED'] ?? randomInt(1 << 30));

/** Of the seed, and of what was drawn before. */
function numbers(from: number): () => number {
  let state = from;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 12)) >>> 0) / 2 ** 32;
  };
}

/** What `up` says on its way, from the first word to the last node. */
const moments = [
  /: connecting/,
  /New cluster|exists on/,
  /copying files/,
  /setup command: 1/,
  /setup command: 2/,
  /starting Ray/,
  /start command: 2 of 2/,
  /mantad \S+ is serving/,
  /the provider launched/,
  /checking Ray/,
  /the head is up/,
];

/** A command that is cut short at any moment leaves a state that the next one completes. */
describe(`commands that are cut short (FAULT_SEED=${seed})`, { skip: labProblem() ?? false }, () => {
  const draw = numbers(seed);
  let bed: FaultBed;
  let head: LabHost;
  let worker: LabHost;
  let file: string;

  before(async () => {
    bed = await FaultBed.open({ hosts: [{ cron: true }, {}], ray: true });
    [head, worker] = bed.hosts as [LabHost, LabHost];
    await bed.laptop.must('mkdir data; head -c 200000 /dev/urandom >data/some');
    const more = { file_mounts: { '/root/data': 'data' }, setup_commands: ['sleep 1', 'sleep 0.5'] };
    file = bed.cluster({ name: 'cut', head, workers: [worker], more });
  });
  after(() => bed?.close());

  /** Waits for a moment, or for the end where the moment never comes, and a little longer. */
  async function reach(running: Running, moment: RegExp): Promise<void> {
    await Promise.race([running.said(moment).catch(() => {}), running.ended]);
    await sleep(draw() * 400);
  }

  const moment = (): RegExp => moments[Math.floor(draw() * moments.length)]!;

  async function runs(): Promise<void> {
    assert.match(await bed.must('exec', file, 'ray status'), /\/2\.0 CPU/);
    for (const host of [head, worker]) {
      const raylets = host.processes().filter(({ command }) => command[0]?.endsWith('/raylet'));
      assert.equal(raylets.length, 1, `one raylet runs on ${host.name}`);
    }
  }

  it('up is killed three times and down completes what it began', async (t) => {
    for (let round = 0; round < 3; round++) {
      const up = bed.start(['up', '-y', file]);
      const at = moment();
      t.diagnostic(`killed at ${at}`);
      await reach(up, at);
      up.kill('SIGKILL');
      await up.ended;
      const { code, shown } = await bed.manta('down', '-y', file);
      assert.equal(code, 0, `after a kill at ${at}:\n${shown}`);
      unadorned(shown);
      await bed.nothingLeft(head, worker);
    }
  });

  it('up is killed, then the whole laptop loses its power, and the third up completes it', async (t) => {
    const [first, second] = [moment(), moment()];
    t.diagnostic(`killed at ${first}, power lost at ${second}`);
    const up = bed.start(['up', '-y', file]);
    await reach(up, first);
    up.kill('SIGKILL');
    await up.ended;
    const again = bed.start(['up', '-y', file]);
    await reach(again, second);
    await bed.laptop.reboot();
    const { code, shown } = await bed.manta('up', '-y', file);
    assert.equal(code, 0, shown);
    unadorned(shown);
    await runs();
  });

  it('down is killed at a moment of its own, up says so, and the next down completes it', async (t) => {
    const down = bed.start(['down', '-y', file]);
    await down.said(/shutting down Ray on 1 workers and the head/);
    const wait = draw() * 600;
    t.diagnostic(`killed ${Math.round(wait)} ms after it began to end Ray`);
    await sleep(wait);
    down.kill('SIGKILL');
    const { signal } = await down.ended;
    const up = await bed.manta('up', '--plan', file);
    if (signal !== null && up.code !== 0)
      readable(up, { code: 'MANTA_LAUNCHER_HALF_DOWN', exit: 4, says: ["'manta down -n cut'"] });
    await bed.must('down', '-y', file);
    await bed.nothingLeft(head, worker);
  });

  it('a head that is rebooted while its setup runs is waited for, and the setup is run again', async () => {
    const more = { setup_commands: ['echo ran >>/root/setups; sleep 3', 'test $(wc -l </root/setups) = 2'] };
    bed.cluster({ name: 'cut', head, more: { ...more, head_start_ray_commands: ['exit 9'] } });
    const up = bed.start(['up', '-y', file]);
    await up.said(/setup command: 1/);
    await head.must('until [ -e setups ]; do sleep 0.05; done');
    await head.reboot();
    const ran = await up.ended;
    readable(ran, { code: 'MANTA_BRINGUP_COMMAND_FAILED', exit: 4, says: ['start command failed with exit code 9'] });
    assert.match(ran.shown, /lost the connection, reconnecting/);
    assert.match(ran.shown, /lost the command, retrying once: echo ran/);
    assert.equal(await head.must('cat setups'), 'ran\nran\n');
  });

  it('a head that is rebooted while its Ray starts is said to be, and the next up starts it', async () => {
    bed.cluster({ name: 'cut', head, workers: [worker] });
    const up = bed.start(['up', '-y', file]);
    await up.said(/start command: 2 of 2/);
    await head.reboot();
    const ran = await up.ended;
    if (ran.code !== 0)
      readable(ran, { code: 'MANTA_BRINGUP_COMMAND_FAILED', exit: 4, says: ['was lost', 'rebooted'] });
    unadorned(ran.shown);
    await bed.must('up', '-y', file);
    await runs();
    await bed.must('down', '-y', file);
    await bed.nothingLeft(head, worker);
  });
});
