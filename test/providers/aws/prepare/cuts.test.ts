// needs: botocore

/** A preparation that was cut short, at every call, is made whole by the next one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labAccount } from '../../../../lab/aws/open.ts';
import type { Credentials } from '../../../../lab/aws/principals.ts';
import { isChange, minimal, preparationBed } from './prepare-bed.ts';

type Bed = Awaited<ReturnType<typeof preparationBed>>;

/** Everything in an account, without ids and times. */
const belongings = ({ cloud, world }: Bed, account: string) => ({
  keys: cloud.has.keys.of(account).map(({ name, tags }) => ({ name, tags })),
  groups: cloud.has.groups
    .of(account, 'us-west-2')
    .filter(({ name }) => name !== 'default')
    .map(({ name, tags, rules }) => ({
      name,
      tags,
      rules: rules.map(({ protocol, from, cidr, group }) => [protocol, from, cidr, group !== undefined]),
    })),
  roles: cloud.has.roles
    .of(account)
    .map(({ name, tags, own }) => ({ name, tags, own: [...own.values()].map((text) => text.replaceAll(account, '')) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  profiles: cloud.has.profiles.of(account).map(({ name, tags }) => [name, tags, world.profile(account, name)?.role]),
});

/** What only tells prices: an `up` does without. */
const forPrices: ReadonlySet<string> = new Set(['GetProducts', 'DescribeSpotPriceHistory']);

const whole = async (bed: Bed, as: Credentials) => {
  const { types, headProfile } = await bed.up({ text: minimal, as });
  const named = { keyName: types['ray.head.default']?.keyName, groups: types['ray.head.default']?.groups?.length };
  return { named, headProfile };
};

test('a call that fails, or whose answer is lost, leaves nothing that the next preparation makes twice', async (t) => {
  const bed = await preparationBed(t);
  const result = await whole(bed, bed.credentials);
  const wanted = belongings(bed, labAccount);
  const calls = new Map((await bed.calls()).map((each) => [each.operation ?? '', isChange(each)]));
  assert.ok(calls.size > 15, [...calls.keys()].join());
  const cuts = [...calls].flatMap(([call, changes]) =>
    (['refuse', 'lost-request', 'lost-answer'] as const)
      .filter((fault) => changes || fault !== 'lost-request')
      .map((fault) => ({ call, fault })),
  );
  for (const [index, { call, fault }] of cuts.entries()) {
    const account = String(500_000_000_000 + index);
    const as = bed.addUser('admin', undefined, account);
    const code = fault === 'refuse' ? { code: 'SomethingElse', message: 'no' } : {};
    await bed.admin.fault({ fault, call, account, times: 1, ...code });
    const first = await whole(bed, as).catch((error: Error) => error);
    // Where no answer came the call is made again: what it made before is found.
    const fails = fault === 'refuse' && !forPrices.has(call);
    assert.equal(first instanceof Error, fails, `${call} ${fault}: ${first instanceof Error ? first.stack : ''}`);
    assert.deepEqual(await whole(bed, as), result, `${call} ${fault}`);
    assert.deepEqual(belongings(bed, account), wanted, `${call} ${fault}`);
  }
});

test('throttled calls are made again', async (t) => {
  const bed = await preparationBed(t);
  await bed.admin.fault({ fault: 'throttle', rate: 0.2 });
  await bed.up({ text: minimal });
});

test('a role that EC2 does not know yet is found, not made again, and it is told how young it is', async (t) => {
  const bed = await preparationBed(t);
  await bed.admin.set({ role_lag_s: 3600 });
  const [first, second] = [await bed.up({ text: minimal }), await bed.up({ text: minimal })];
  assert.deepEqual(second.headProfile, first.headProfile);
  for (const { profileMadeAt } of [first, second])
    assert.ok(Math.abs(profileMadeAt! - bed.world.profile(labAccount, first.headProfile!.Name!)!.createdAt) < 10_000);
});

test('two commands at once make one set', async (t) => {
  const bed = await preparationBed(t);
  const [one, two] = await Promise.all([bed.up({ text: minimal }), bed.up({ text: minimal })]);
  assert.deepEqual(one.types, two.types);
  assert.equal(bed.cloud.has.keys.of(labAccount).length, 1);
});

test('a command that is cancelled ends with the reason', async (t) => {
  const bed = await preparationBed(t);
  const reason = new Error('stopped by the user');
  await assert.rejects(bed.up({ text: minimal }, AbortSignal.abort(reason)), reason);
});
