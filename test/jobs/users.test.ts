import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EventKind, EventSink } from '../../src/base/events.ts';
import { jobErrors } from '../../src/jobs/errors.ts';
import { SignIns } from '../../src/jobs/users/sign-ins.ts';
import { sessionLife, Users } from '../../src/jobs/users/users.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock } from './manual-clock.ts';
import { type Bed, makeBed } from './queue-bed.ts';

const clock = new ManualClock();
let bed: Bed;
before(async () => {
  bed = await makeBed({ clock, runner: new FakeRunner(clock), run: false });
  await bed.users.add('root', { admin: true });
});
after(() => bed.remove());

/** The token, or nothing where it was refused. */
const ifGiven = (asked: Promise<string | undefined>): Promise<string | undefined> => asked.catch(() => undefined);

test('a session or token that is issued beside a revoke is dead, also when the user comes back', async () => {
  const orders: ((name: string) => (Promise<unknown> | (() => Promise<string | undefined>))[])[] = [
    (name) => [() => bed.users.issue(name, clock.now() + 60_000), bed.users.revoke(name)],
    (name) => [bed.users.revoke(name), () => bed.users.issue(name, clock.now() + 60_000)],
    (name) => [bed.users.revoke(name), () => bed.users.issue(name)],
  ];
  for (const [index, order] of orders.entries()) {
    const name = `user${index}`;
    await bed.users.add(name);
    const ticket = bed.users.makeTicket(name);
    const asked: Promise<unknown>[] = [];
    const given: Promise<string | undefined>[] = [];
    for (const each of order(name)) {
      if (typeof each === 'function') given.push(ifGiven(each()));
      else asked.push(each);
    }
    given.push(bed.users.redeemTicket(ticket));
    await Promise.all(asked);
    const tokens = (await Promise.all(given)).filter((token) => token !== undefined);
    const { token } = await bed.users.add(name);
    for (const old of tokens) assert.equal(bed.users.byToken(old), undefined, `order ${index}`);
    const again = new Users(bed.database, clock);
    for (const old of tokens) assert.equal(again.byToken(old), undefined, `order ${index}, after a restart`);
    assert.equal(again.byToken(token)?.name, name);
  }
});

test('two administrators who revoke each other at one moment leave one', async () => {
  await bed.users.add('second', { admin: true });
  const ends = await Promise.allSettled([bed.users.revoke('root'), bed.users.revoke('second')]);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.ok(jobErrors.LastAdmin.is((ends[1] as PromiseRejectedResult).reason));
  assert.deepEqual([...bed.users.admins()], ['second']);
});

test('a session that an earlier Manta made for a month ends with the others', async () => {
  await bed.users.add('eve');
  const long = await bed.users.issue('eve', clock.now() + 30 * 86_400_000);
  const users = new Users(bed.database, clock);
  assert.equal(users.byToken(long)?.name, 'eve');
  clock.set(clock.now() + sessionLife);
  assert.equal(users.byToken(long), undefined);
});

test('changes of users and tokens are events, without the tokens', async () => {
  const told: string[] = [];
  const events: EventSink = {
    emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(`${kind.code} ${kind.text(data)}`),
  };
  const users = new Users(bed.database, clock, events);
  const { token } = await users.add('grace', { admin: true });
  const more = await users.issue('grace');
  const session = await users.issue('grace', clock.now() + 1_000);
  await users.revoke('grace');
  assert.deepEqual(
    told.map((each) => each.split(' ')[0]),
    ['MANTA_USER_ADDED', 'MANTA_USER_TOKEN_ISSUED', 'MANTA_USER_REVOKED'],
  );
  for (const secret of [token, more, session]) assert.ok(!told.join(' ').includes(secret));
});

test('refused sign-ins are told in bounded number, with how many there were', () => {
  const told: unknown[] = [];
  const events: EventSink = { emit: (_, data) => void told.push(data) };
  const signIns = new SignIns(clock, events);
  for (let tries = 0; tries < 1_000; tries++) signIns.failed({ byCookie: tries % 2 === 0 });
  assert.deepEqual(told, [{ count: 1 }]);
  clock.set(clock.now() + 600_000);
  signIns.failed({ byCookie: false });
  assert.deepEqual(told, [{ count: 1 }, { count: 500 }]);
});
