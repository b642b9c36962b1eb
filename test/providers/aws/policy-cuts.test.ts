// needs: botocore

/** The printed policies suffice to run a cluster and to end it, and each action that is taken away is named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Aws, labAccount } from '../../../lab/aws/open.ts';
import type { Policy, Statement } from '../../../lab/aws/policy.ts';
import type { Credentials } from '../../../lab/aws/principals.ts';
import { rayTags } from '../../../src/core/ray-tags.ts';
import { policies } from '../../../src/providers/aws/prepare/policies.ts';
import type { AwsProvider } from '../../../src/providers/aws/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { ask, clusterText, fastClock, preparedOf, providerOf, region, specOf, standInAws, zone } from './aws-bed.ts';
import { preparationBed } from './prepare/prepare-bed.ts';

const actionsIn = (policy: Policy): readonly string[] => [
  ...new Set((policy.Statement as Statement[]).flatMap(({ Action: action }) => action as string[])),
];

const without = (policy: Policy, action: string): Policy => ({
  Statement: (policy.Statement as Statement[]).map((statement) => ({
    ...statement,
    Action: (statement.Action as string[]).filter((each) => each !== action),
  })),
});

/** What AWS says to each step of the work; none that is refused keeps the others from being tried. */
async function refusals(steps: readonly (() => Promise<unknown>)[]): Promise<string> {
  const told: string[] = [];
  for (const step of steps) await step().catch((error: Error) => told.push(error.message));
  return told.join('\n');
}

const persistent = 'InstanceMarketOptions: {MarketType: spot, SpotOptions: {SpotInstanceType: persistent}}';

/** A cluster whose workers are of every market, with a profile of their own. */
function everyMarket(aws: Aws): string {
  const block = aws.world.addReservation({
    ...{ account: labAccount, type: 'm5.large', zone, total: 100, block: true, until: Date.now() + 3_600_000 },
  });
  const role = { account: labAccount, createdAt: 0, tags: {}, path: '/', name: 'for-workers' };
  aws.cloud.has.roles.add({ ...role, id: 'AROA1', trust: '{}', attached: [], own: new Map() });
  aws.cloud.has.profiles.add({ ...role, id: 'AIPA1', role: 'for-workers' });
  return clusterText({
    provider: ['cache_stopped_nodes: true'],
    manta: ['node_types: {worker: {market: [reserved, spot, on-demand]}}'],
    head: [persistent],
    worker: [
      'IamInstanceProfile: {Name: for-workers}',
      'InstanceMarketOptions: {MarketType: capacity-block}',
      `CapacityReservationSpecification: {CapacityReservationTarget: {CapacityReservationId: ${block.id}}}`,
    ],
  });
}

/** Everything that a head does: to a running worker, a stopped one, and one of a persistent request. */
async function headWork(aws: Aws, text: string, clusterId: string, credentials: Credentials) {
  const admin = providerOf(aws, { text, clusterId });
  const [running, stopped] = await admin.launch(ask('first', { count: 2 }), never);
  const [spot] = await providerOf(aws, { text: clusterText({ worker: [persistent] }), clusterId }).launch(
    ask('spot', { market: 'spot' }),
    never,
  );
  const stateOf = async (id: string) => (await admin.list(never)).find((each) => each.id === id)?.state;
  await until(
    'they run',
    async () => (await stateOf(running!.id)) === 'running' && (await stateOf(stopped!.id)) === 'running',
  );
  await admin.stop([stopped!.id], never);
  await until('one is stopped', async () => (await stateOf(stopped!.id)) === 'stopped');
  const old = (given: Aws) => preparedOf(given, { prices: { at: 0, list: [] } });
  const head = providerOf(aws, { text, clusterId, credentials, prepared: old });
  return [
    () => head.launch(ask('again'), never),
    () => head.launch(ask('more', { zone: `${region}b` }), never),
    () => head.launch(ask('spot', { market: 'spot', zone: `${region}b` }), never),
    () => head.launch(ask('reserved', { market: 'reserved' }), never),
    () => head.list(never),
    () => head.tag(running!.id, { [rayTags.status]: 'up-to-date' }, never),
    () => head.stop([running!.id], never),
    () => head.terminate([running!.id, spot!.id], never),
    () => head.learn(never),
  ];
}

/** Without these a head does less, or says less, and goes on. */
const optional = [
  ...['pricing:GetProducts', 'ec2:DescribeSpotPriceHistory', 'sts:DecodeAuthorizationMessage'],
  // New workers are launched in place of those that cannot be started.
  'ec2:StartInstances',
  // The end of a block is not announced then.
  'ec2:DescribeCapacityReservations',
];

test("the head's policy suffices for all that a head does, and each action that it lacks is named", async (t) => {
  const aws = await standInAws(t);
  const text = everyMarket(aws);
  const policy = JSON.parse(policies(specOf(text)).head) as Policy;
  assert.equal(await refusals(await headWork(aws, text, 'c-all', aws.addUser('head', policy))), '');
  for (const [index, action] of actionsIn(policy).entries()) {
    const credentials = aws.addUser(`poor-${index}`, without(policy, action));
    const told = await refusals(await headWork(aws, text, `c-${index}`, credentials));
    if (optional.includes(action)) assert.equal(told, '', action);
    else assert.ok(told.includes(action), `${action}: ${told}`);
  }
});

/** All that `down` does. What it cannot delete is told by what remains. */
const downOf = (provider: AwsProvider): readonly (() => Promise<unknown>)[] => [
  async () =>
    await provider.terminate(
      (await provider.list(never)).map(({ id }) => id),
      never,
    ),
  () => provider.release(never),
  async () => {
    const remains = await provider.remains(never);
    if (remains.length > 0) throw new Error(remains.map(({ detail }) => detail).join());
  },
];

test("the user's policy suffices to shut a cluster down, and each action that it lacks is named", async (t) => {
  const bed = await preparationBed(t);
  const text = clusterText({
    worker: [persistent],
    manta: ['head_policies: [arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess]'],
  });
  const policy = JSON.parse(policies(specOf(text)).user) as Policy;
  const downAs = async (clusterId: string, credentials: Credentials): Promise<string> => {
    const prepared = await bed.up({ spec: specOf(text), clusterId });
    const admin = providerOf(bed, { text, clusterId, prepared: () => prepared, clock: fastClock });
    await admin.launch(ask('spot', { market: 'spot' }), never);
    const elsewhere = { client: { prepared: () => undefined }, clock: fastClock };
    const provider = providerOf(bed, { text, clusterId, credentials, ...elsewhere });
    const told = await refusals(downOf(provider));
    assert.equal(await refusals(downOf(admin)), '', 'who may do more completes it');
    return told;
  };
  assert.equal(await downAs('aa00', bed.addUser('enough', policy)), '');
  const needed = [
    ...['DescribeInstances', 'TerminateInstances', 'DescribeSpotInstanceRequests', 'CancelSpotInstanceRequests'],
    ...['DescribeVolumes', 'DescribeNetworkInterfaces', 'DescribeSecurityGroups', 'DescribeKeyPairs'],
    ...['DeleteSecurityGroup', 'DeleteKeyPair'],
  ]
    .map((call) => `ec2:${call}`)
    .concat(
      [
        ...['GetRole', 'GetInstanceProfile', 'RemoveRoleFromInstanceProfile', 'DeleteInstanceProfile'],
        ...['ListRolePolicies', 'DeleteRolePolicy', 'ListAttachedRolePolicies', 'DetachRolePolicy', 'DeleteRole'],
      ].map((call) => `iam:${call}`),
    );
  for (const [index, action] of needed.entries()) {
    assert.ok(actionsIn(policy).includes(action), action);
    const told = await downAs(
      `bb${String(index).padStart(2, '0')}`,
      bed.addUser(`poor-${index}`, without(policy, action)),
    );
    assert.ok(told.includes(action), `${action}: ${told}`);
  }
});
