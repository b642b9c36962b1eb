import assert from 'node:assert/strict';
import { eventually } from '../cluster-bed.ts';
import type { Order } from './driver.ts';
import { eventLines, isLaunch, judge } from './judge.ts';
import { piecesOf, type RayBed } from './ray-bed.ts';
import { idleTimeout } from './ray-commands.ts';
import type { Fault, Scenario } from './scenario.ts';

/** Faults that strike a host once all work has its place. */
const strikes: ReadonlySet<Fault> = new Set<Fault>([
  'raylet killed',
  'machine vanished',
  'power cut',
  'preempted with notice',
  'preempted',
]);

/** Plays a scenario on a cluster without workers, and leaves it without workers. */
export async function play(scenario: Scenario, bed: RayBed): Promise<void> {
  const { demand, fault, outcome } = scenario;
  const from = await bed.lastEvent();
  const mark = await bed.site.mark();
  let order: Order | undefined;
  try {
    await bed.site.cause(fault, bed);
    if (demand.kind === 'floor') await playFloor(scenario, demand.count, bed);
    else {
      order = bed.driver.make(demand);
      if (demand.kind === 'request') await playRequest(scenario, bed, order);
      else if (outcome.work === 'done' || outcome.work === undefined) await playWork(scenario, bed, order, from);
      else await playUnmet(scenario, bed, order, from);
    }
    await noWorkerLeft(bed);
  } catch (error) {
    const told = await bed.events(from).then(eventLines, () => '(no events)');
    await cleanUp(bed, order).catch(() => undefined);
    throw new Error(`${(error as Error).message}\nWhat the cluster did:\n${told}`, { cause: error });
  } finally {
    bed.turnstile.release();
    await bed.site.calm(bed);
    if (fault === 'limit lowered') await bed.limit({});
  }
  await eventually('nothing of it is left', async () => {
    const problems = await bed.site.problems(mark);
    assert.deepEqual(problems, []);
    return true;
  });
  judge(scenario, await bed.events(from));
}

const noWorkerLeft = (bed: RayBed): Promise<true> =>
  eventually('no worker is left', async () => (await bed.workers()).length === 0);

/** What went wrong here must not go wrong in the next scenario too. */
async function cleanUp(bed: RayBed, order: Order | undefined): Promise<void> {
  bed.turnstile.release();
  await bed.site.calm(bed);
  await bed.limit({});
  if (order !== undefined) {
    bed.turnstile.letGo(order.number);
    await bed.driver.withdraw(order).catch(() => undefined);
  }
  await noWorkerLeft(bed);
}

/** All pieces hold their place at once, something happens, they hold it again, and go on. */
async function playWork({ demand, fault, outcome }: Scenario, bed: RayBed, order: Order, from: number): Promise<void> {
  const { turnstile } = bed;
  const pieces = outcome.held ?? piecesOf(demand);
  const placed = (lost?: string): Promise<true> =>
    eventually(`all ${pieces} pieces have a place`, () => {
      const places = [...turnstile.places(order.number).values()];
      return places.length >= pieces && places.every((host) => host !== lost);
    });
  if (fault === 'limit lowered') {
    await eventually('all are being set up', async () => {
      const workers = await bed.workers();
      return workers.length === outcome.asked && workers.every(({ status }) => status === 'setting-up');
    });
    await bed.limit({ maxWorkers: 2 });
    await toldOf(bed, from, /more than 2 /);
    bed.turnstile.release();
  }
  if (outcome.why !== undefined) await saysWhy(outcome.why, bed);
  await placed();
  if (strikes.has(fault)) {
    const [struck] = turnstile.places(order.number).values();
    const host = bed.site.host(struck!)!;
    const asked = (await bed.events(from)).filter(isLaunch).length;
    await bed.site.strike(fault, host);
    if (fault === 'preempted with notice') {
      await eventually(
        'the next one is asked for',
        async () => (await bed.events(from)).filter(isLaunch).length > asked,
      );
      assert.ok(host.up, 'while the work still runs on the old one');
    }
    await placed(struck);
  }
  if (fault === 'busy beside idle') await letIdleGo(bed, order);
  if (fault === 'node added by hand') assert.match(await bed.status(), /\n 1 node_[0-9a-f]+\n/);
  turnstile.letGo(order.number);
  const hosts = new Set(await order.done);
  assert.equal(hosts.size, outcome.hosts ?? outcome.asked, `it ran on ${[...hosts].join(', ')}`);
  assert.ok(!hosts.has(bed.head.name), 'nothing ran on the head');
}

/** The pieces on one host go on; that host goes, and the other stays with its work. */
async function letIdleGo(bed: RayBed, { number }: Order): Promise<void> {
  const { turnstile } = bed;
  const places = new Map(turnstile.places(number));
  const [idle] = places.values();
  const free = [...places].filter(([, host]) => host === idle).map(([piece]) => piece);
  const { address } = bed.site.host(idle!)!;
  turnstile.letGo(number, free);
  await eventually('the idle one goes, and it alone', async () => {
    const workers = await bed.workers();
    return workers.length === 1 && workers[0]?.status === 'running' && workers[0].address !== address;
  });
  turnstile.forget(number);
  await eventually('the busy one works on', () => turnstile.places(number).size === places.size - free.length);
}

async function playUnmet({ outcome, fault }: Scenario, bed: RayBed, order: Order, from: number): Promise<void> {
  const { why = [], work } = outcome;
  await saysWhy(why, bed);
  if (work === 'impossible') {
    await eventually("Ray's drivers are told", () => why.some((words) => words.test(bed.driver.said)));
    const status = await bed.status();
    assert.match(status, /Demands/);
  } else await toldOf(bed, from, /requesting /);
  if (fault === 'never boots') await eventually('it is there', async () => (await bed.workers()).length === 1);
  await bed.driver.withdraw(order);
}

async function playRequest({ fault, outcome }: Scenario, bed: RayBed, order: Order): Promise<void> {
  await order.done;
  await holdsIdle(bed, fault, outcome.asked - (outcome.undrained ?? 0));
  await bed.driver.withdraw(order);
}

async function playFloor({ fault }: Scenario, count: number, bed: RayBed): Promise<void> {
  await bed.limit({ minWorkers: count });
  await holdsIdle(bed, fault, count);
  await bed.limit({});
}

/** So many workers come, and stay for longer than idle ones do. */
async function holdsIdle(bed: RayBed, fault: Fault, count: number): Promise<void> {
  const idle = async (more: (ids: readonly string[]) => boolean = () => true): Promise<readonly string[] | false> => {
    const workers = await bed.workers();
    const stay = workers.filter(({ idleFor = 0, status }) => status === 'running' && idleFor > 2_000 * idleTimeout);
    const machines = stay.map(({ address = '' }) => address);
    return stay.length === count && workers.length === count && more(machines) && machines;
  };
  const [first] = await eventually(`${count} workers stay though they are idle`, () => idle());
  if (!strikes.has(fault)) return;
  await bed.site.strike(fault, bed.user.lab.hosts.find(({ address }) => address === first)!);
  await eventually(`${count} workers stay again`, () => idle((machines) => !machines.includes(first!)));
}

async function toldOf(bed: RayBed, from: number, words: RegExp): Promise<void> {
  await eventually(`the events say ${words}`, async () =>
    (await bed.events(from)).some(({ text }) => words.test(text)),
  );
}

async function saysWhy(why: readonly RegExp[], bed: RayBed): Promise<void> {
  await eventually('manta why says it', async () => {
    const text = await bed.why('demand');
    for (const words of why) assert.match(text, words);
    return true;
  });
}
